package request

import (
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// FindLed is Find, but where requests for an authority get nothing but Caddy's automatic
// redirect to https, what they meet there. led is the authority that they are led to, ""
// where they are not.
func FindLed(servers []*caddyhttp.Server, authority string, secure bool, is func(caddyhttp.MiddlewareHandler) bool) (found Found, led string) {
	if secure {
		return Find(servers, authority, true, is), ""
	}
	first := Find(servers, authority, false, func(h caddyhttp.MiddlewareHandler) bool { return is(h) || toHTTPS(h) != "" })
	location := toHTTPS(first.Handler)
	if location == "" || first.Server.TLSConnPolicies != nil {
		return Find(servers, authority, false, is), ""
	}
	host, _ := addr.CutPort(NormalHost(authority, false))
	led = NormalHost(strings.TrimSuffix(strings.Replace(location, redirectHost, host, 1), redirectURI), true)
	return Find(servers, led, true, is), led
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
