package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// Place is the place of a robots_txt handler in the configuration.
type Place struct {
	// Name identifies the handler in the history: the hosts of its site, or the listeners of the
	// server if it has none. The second handler of the same place has "#2" appended, and so on.
	Name  string
	Hosts []string // none for any
}

// PlacesOf returns the places of handlers in the routes of servers.
func PlacesOf(servers []*caddyhttp.Server, is func(caddyhttp.MiddlewareHandler) bool) map[caddyhttp.MiddlewareHandler]Place {
	places := make(map[caddyhttp.MiddlewareHandler]Place)
	taken := make(map[string]int)
	for _, server := range servers {
		request.Walk(server, func(p request.Place, route caddyhttp.Route) {
			for _, handler := range route.Handlers {
				if p.Errors || !is(handler) { // another handler may have a type that is no map key
					continue
				}
				if _, known := places[handler]; known {
					continue
				}
				hosts := slices.Sorted(slices.Values(p.Hosts))
				names := slices.Compact(slices.Clone(hosts))
				if len(names) == 0 {
					names = slices.Sorted(slices.Values(server.Listen))
				}
				name := strings.Join(names, ",")
				if taken[name]++; taken[name] > 1 {
					name += fmt.Sprintf("#%d", taken[name])
				}
				places[handler] = Place{Name: name, Hosts: hosts}
			}
		})
	}
	return places
}

// has returns a function that reports whether a host is one of the place.
func (p Place) has() func(host string) bool {
	if len(p.Hosts) == 0 {
		return func(string) bool { return true }
	}
	return hasOf(p.Hosts)
}

// hasOf returns a function that reports whether a host matches one of some, which may be wildcards.
func hasOf(some []string) func(host string) bool {
	hosts := request.HostsOfServer(nil)
	hosts.Add(some)
	return hosts.Has
}
