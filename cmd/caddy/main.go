// Command caddy is stock Caddy with Robots Guard.
package main

import (
	_ "time/tzdata"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/robotsguard/caddy-robots-guard"
)

func main() {
	caddycmd.Main()
}
