package site

import (
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// FindRedirected is like [Find], but follows Caddy's automatic redirect to https. If requests for an
// http authority only get that redirect, FindRedirected returns the handler at its target, and target
// is the authority there. Otherwise target is "".
func FindRedirectedHandler(servers []*caddyhttp.Server, authority string, secure bool, is func(caddyhttp.MiddlewareHandler) bool) (found Found, target string) {
	if !secure {
		host, _ := addr.SplitPort(AsSent(authority, false))
		first := FindHandler(servers, authority, false, func(caddyhttp.MiddlewareHandler) bool { return true })
		// Without hosts, it is Caddy's last route for any host, which other sites precede.
		if location := toHTTPS(first.Handler); location != "" && len(first.Hosts) > 0 && !isSecure(first.Server) {
			target = AsSent(strings.TrimSuffix(strings.Replace(location, redirectHost, host, 1), redirectURI), true)
			if found = FindHandler(servers, target, true, is); found.Handler != nil && isSecure(found.Server) {
				return found, target
			}
		}
	}
	return FindHandler(servers, authority, secure, is), ""
}

// The Location of an automatic redirect has this prefix, perhaps a port, and this suffix.
const (
	redirectHost = "https://{http.request.host}"
	redirectURI  = "{http.request.uri}"
)

// toHTTPS returns the Location of an automatic redirect, or "" for another handler. A redirect that an
// owner writes may have conditions. It is a pointer, unlike Caddy's own.
func toHTTPS(h caddyhttp.MiddlewareHandler) string {
	response, ok := h.(caddyhttp.StaticResponse)
	if location := response.Headers.Get("Location"); ok && strings.HasPrefix(location, redirectHost) && strings.HasSuffix(location, redirectURI) {
		return location
	}
	return ""
}

// redirectedHosts returns the hosts of an automatic redirect, or nil for another route. The matchers of
// an automatic redirect are values, those of an owner are pointers.
func redirectedHosts(route caddyhttp.Route) (names []string) {
	for _, set := range route.MatcherSets {
		for _, matcher := range set {
			if hosts, ok := matcher.(caddyhttp.MatchHost); ok {
				names = append(names, hosts...)
			}
		}
	}
	return names
}
