package request

import (
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// FindLed is Find, but where requests for an authority get nothing but Caddy's automatic
// redirect of its host to https, what they meet there. led is the authority that they are led
// to, "" where they are not.
func FindLed(servers []*caddyhttp.Server, authority string, secure bool, is func(caddyhttp.MiddlewareHandler) bool) (found Found, led string) {
	if !secure {
		host, _ := addr.CutPort(AsSent(authority, false))
		first := Find(servers, authority, false, func(caddyhttp.MiddlewareHandler) bool { return true })
		if location := toHTTPS(first.Handler); location != "" && len(first.Hosts) > 0 && !isSecure(first.Server) { // none for any host, which stands behind all
			led = AsSent(strings.TrimSuffix(strings.Replace(location, redirectHost, host, 1), redirectURI), true)
			if found = Find(servers, led, true, is); found.Handler != nil && isSecure(found.Server) {
				return found, led
			}
		}
	}
	return Find(servers, authority, secure, is), ""
}

// What an automatic redirect leads to: this host, perhaps with a port, and this path.
const (
	redirectHost = "https://{http.request.host}"
	redirectURI  = "{http.request.uri}"
)

// toHTTPS returns where an automatic redirect leads, "" for another handler. Those that
// an owner writes may have conditions, and are pointers.
func toHTTPS(h caddyhttp.MiddlewareHandler) string {
	response, ok := h.(caddyhttp.StaticResponse)
	if location := response.Headers.Get("Location"); ok && strings.HasPrefix(location, redirectHost) && strings.HasSuffix(location, redirectURI) {
		return location
	}
	return ""
}

// ledHosts returns the hosts of an automatic redirect, whose matchers are no pointers; nil for
// another route.
func ledHosts(route caddyhttp.Route) (names []string) {
	for _, set := range route.MatcherSets {
		for _, matcher := range set {
			if hosts, ok := matcher.(caddyhttp.MatchHost); ok {
				names = append(names, hosts...)
			}
		}
	}
	return names
}
