package selftest

import (
	"context"
	"iter"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// unknown is the part of a made-up host that stands for a wildcard.
const unknown = "robots-guard-self-test"

// SitesOf returns the configured hosts with a guard of each server, in the order of the
// configuration. sourceOf returns how a handler fetches the robots.txt of its server, nil if
// the handler is no guard.
func SitesOf(sites *request.Sites, sourceOf func(caddyhttp.MiddlewareHandler) *origin.Server) iter.Seq[Site] {
	return func(yield func(Site) bool) {
		for _, server := range sites.Servers() {
			sources, hosts := guardedHosts(server, sourceOf)
			for _, host := range hosts {
				if site, ok := siteAt(server, sites.Of(server), host, sources[host]); ok && !yield(site) {
					return
				}
			}
		}
	}
}

// guardedHosts returns the hosts of a server with their first source; "" stands for any host.
func guardedHosts(server *caddyhttp.Server, sourceOf func(caddyhttp.MiddlewareHandler) *origin.Server) (sources map[string]*origin.Server, hosts []string) {
	sources = make(map[string]*origin.Server)
	request.Walk(server, func(p request.Place, route caddyhttp.Route) {
		for _, handler := range route.Handlers {
			source := sourceOf(handler)
			if source == nil || p.Errors {
				continue
			}
			names := p.Hosts
			if len(names) == 0 {
				names = []string{""}
			}
			for _, name := range names {
				if sources[name] == nil {
					sources[name] = source
					hosts = append(hosts, name)
				}
			}
		}
	})
	return sources, hosts
}

// siteAt returns a host of a server. Its requests name no port, as those of clients at a port
// that is mapped. ok is false for a host with a placeholder, which only clients know.
func siteAt(server *caddyhttp.Server, hosts *request.Hosts, host string, source *origin.Server) (site Site, ok bool) {
	if strings.ContainsAny(host, "{}") {
		return site, false
	}
	name := strings.ReplaceAll(host, "*", unknown)
	if host == "" {
		name = unknown + ".invalid" // RFC 6761: nobody has it
	}
	secure := len(server.TLSConnPolicies) > 0
	key := hosts.KeyAt(request.AsSent(name, secure), secure)
	r := request.For(server, key, nil)
	if r == nil {
		return site, false
	}
	fetch := func(ctx context.Context, userAgent string) policy.Answer {
		fetch, _ := source.PrepareAs(r, key, userAgent) // the request names a server
		return fetch(ctx, nil)
	}
	return Site{Name: key.String(), Label: request.NewSite(key).Label, Unknown: name != host, Fetch: fetch}, true
}
