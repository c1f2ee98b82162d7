// Command caddy is the product's binary plus a handler that does nothing. All servers
// under load run this program.
package main

import (
	_ "time/tzdata"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/robotsguard/caddy-robots-guard"
	_ "github.com/robotsguard/caddy-robots-guard/integration/bench/empty"
)

func main() {
	caddycmd.Main()
}
