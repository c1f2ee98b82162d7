module github.com/robotsguard/caddy-robots-guard/integration/bench

go 1.26.0

require (
	github.com/cloudflare/ahocorasick v0.0.0-20240916140611-054963ec9396
	github.com/jimsmart/grobotstxt v1.0.3
	github.com/mileusna/useragent v1.3.5
	github.com/mssola/useragent v1.0.0
	github.com/robotsguard/caddy-robots-guard v0.0.0
	github.com/temoto/robotstxt v1.1.2
	github.com/x-way/crawlerdetect v0.2.24
)

require (
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/pquerna/cachecontrol v0.2.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
)

replace github.com/robotsguard/caddy-robots-guard => ../..
