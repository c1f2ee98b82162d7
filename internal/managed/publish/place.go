package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// Place is the position of a robots_txt handler in the configuration.
type Place struct {
	// Name identifies the handler in the history. It has the hosts of the site, or the listeners of
	// the server if there are no hosts. A second handler with the same name gets the suffix "#2", a
	// third "#3".
	Name  string
	Hosts []string // empty for any host
}

// PlacesOf returns the places of handlers in the routes of servers.
func PlacesOf(servers []*caddyhttp.Server, is func(caddyhttp.MiddlewareHandler) bool) map[caddyhttp.MiddlewareHandler]Place {
	places := make(map[caddyhttp.MiddlewareHandler]Place)
	taken := make(map[string]int)
	for _, server := range servers {
		site.Walk(server, func(p site.Place, route caddyhttp.Route) {
			for _, handler := range route.Handlers {
				if p.Errors || !is(handler) { // a handler of an unknown type may not be a valid map key
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

// has returns a function that reports whether the place includes a host.
func (p Place) has() func(host string) bool {
	if len(p.Hosts) == 0 {
		return func(string) bool { return true }
	}
	return hasOf(p.Hosts)
}

// hasOf returns a function that reports whether a host matches the given hosts or wildcards.
func hasOf(some []string) func(host string) bool {
	hosts := site.HostsOfServer(nil)
	hosts.Add(some)
	return hosts.Has
}
