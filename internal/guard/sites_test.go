package guard

import (
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// TestSitesOfServers sends requests to one guard at two servers in turn. The servers
// name different hosts, and each must find only its own.
func TestSitesOfServers(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
	servers := map[string]*caddyhttp.Server{"a.example": serverNaming("a.example"), "b.example": serverNaming("b.example")}
	at := func(server, host string) *site.Site {
		r := caddyhttp.PrepareRequest(requestBy("bingbot/2.0", "http://"+host+"/"), caddy.NewReplacer(), nil, servers[server])
		return g.namedSite(r)
	}
	first := make(map[string]*site.Site)
	for range 3 {
		for host := range servers {
			found := at(host, host)
			if found == nil || found.Label != host || first[host] != nil && found != first[host] {
				t.Fatalf("%s is %+v", host, found)
			}
			first[host] = found
		}
		if at("a.example", "b.example") != nil || at("b.example", "a.example") != nil {
			t.Error("a server has a site of the other")
		}
	}
}
