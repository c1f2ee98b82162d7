package site

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// AsSent returns the Host header that clients send for the authority of a URL. Unlike
// [NormalHost] it keeps a trailing dot, because Caddy treats that as another host. It removes
// the zone of an address (RFC 6874) and a colon without a port.
func AsSent(authority string, secure bool) string {
	authority = strings.TrimSuffix(authority, ":")
	host, port := addr.SplitPort(authority)
	if address, _, zoned := strings.Cut(host, "%"); zoned && strings.HasPrefix(host, "[") {
		authority = address + "]" + port
	}
	name := NormalHost(authority, secure)
	if !strings.HasSuffix(host, ".") || len(authority) > MaxHost {
		return name
	}
	name, port = addr.SplitPort(name)
	return name + "." + port
}

// KeyAt returns the key of the robots.txt for requests to an authority, as [AsSent] returns it,
// at the server of h. It equals [Hosts.Key] of such a request.
func (h *Hosts) KeyAt(authority string, secure bool) policy.Key {
	host, port := addr.SplitPort(authority)
	name := h.canonical(host, secure)
	key := policy.Key{Server: h.Name, Secure: secure, Host: name, Site: h.configured(addr.Unbracket(name))}
	number := portOf(port, secure)
	if port != "" && number != defaultPort(secure) && isPort(port, number) && h.Server != nil && listensAt(h.Server, number) {
		key.Host += port
	}
	return key
}
