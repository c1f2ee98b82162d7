package request

import (
	"cmp"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// Found is a handler with where it stands.
type Found struct {
	Handler caddyhttp.MiddlewareHandler // nil if there is none
	Server  *caddyhttp.Server
	Hosts   []string // none for any
}

// Find returns the handler for which is is true that requests for a host at a port
// meet. A server that listens at the port comes before others, for a proxy may map
// ports; then a site that names the host before a wildcard, and that before a site
// that takes any host; then the first.
func Find(servers []*caddyhttp.Server, host string, port int, is func(caddyhttp.MiddlewareHandler) bool) (found Found) {
	best := [2]int{}
	for _, server := range servers {
		listens := 0
		if listensAt(server, port) {
			listens = 1
		}
		Walk(server, func(p Place, route caddyhttp.Route) {
			fits := HostFits(p.Hosts, host)
			if p.Errors || fits == 0 || cmp.Or(cmp.Compare(listens, best[0]), cmp.Compare(fits, best[1])) <= 0 {
				return
			}
			for _, handler := range route.Handlers {
				if is(handler) {
					best = [2]int{listens, fits}
					found = Found{handler, server, p.Hosts}
					return
				}
			}
		})
	}
	return found
}

// IsAt reports whether a server listens at a port, with TLS if that is secure.
func IsAt(server *caddyhttp.Server, port int, secure bool) bool {
	return listensAt(server, port) && (len(server.TLSConnPolicies) > 0) == secure
}

// HostOf returns the host of a URL in its usual spelling and without its port, ""
// for a path.
func HostOf(url string) string {
	host, _ := addr.CutPort(NormalHost(addr.Authority(url), true))
	return host
}

// HostFits tells how closely the hosts of a site name a host, 0 for not at all.
func HostFits(names []string, host string) int {
	if len(names) == 0 {
		return 1 // any
	}
	h := HostsOfServer(nil)
	h.Add(names)
	switch label, named := h.Label(host); {
	case named:
		return 3
	case label != judge.OtherName:
		return 2
	}
	return 0
}

// listensAt reports whether a server listens at a port.
func listensAt(server *caddyhttp.Server, port int) bool {
	for _, listen := range server.Listen {
		address, err := caddy.ParseNetworkAddress(listen)
		if err == nil && !address.IsUnixNetwork() && !address.IsFdNetwork() &&
			int(address.StartPort) <= port && port <= int(address.EndPort) {
			return true
		}
	}
	return false
}
