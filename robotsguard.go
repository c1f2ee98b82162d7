// Package robotsguard adds Robots Guard to Caddy: it makes crawlers keep to a
// site's own robots.txt. Import it for its side effect, or build Caddy with
//
//	xcaddy build --with github.com/robotsguard/caddy-robots-guard
package robotsguard

import (
	_ "github.com/robotsguard/caddy-robots-guard/caddymodule" // registers the modules
	_ "github.com/robotsguard/caddy-robots-guard/caddymodule/robotstxt"
)
