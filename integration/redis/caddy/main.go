// Command caddy is stock Caddy with Robots Guard and the storage of this module.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/robotsguard/caddy-robots-guard"
	_ "github.com/robotsguard/caddy-robots-guard/integration/redis"
)

func main() {
	caddycmd.Main()
}
