package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// Found is a handler and its place in the configuration.
type Found struct {
	Handler caddyhttp.MiddlewareHandler // nil if not found
	Server  *caddyhttp.Server
	Hosts   []string // empty for any host
	// Several is true if other handlers fit as well, with matchers in addition to the host.
	Several bool
}

// Find returns the handler for which is returns true and that requests for an authority reach,
// over https or http. Proxies, http_port and https_port may map ports, so several handlers may
// fit. Find prefers, in this order:
//   - a server that listens on the port of the authority
//   - a server with TLS for https, and without TLS for http
//   - a site that names the host, then a wildcard, then a site for any host
//   - the first one in the configuration
func FindHandler(servers []*caddyhttp.Server, authority string, secure bool, is func(caddyhttp.MiddlewareHandler) bool) (found Found) {
	host, port := addr.SplitPort(AsSent(authority, secure))
	best := [2]int{}
	for _, server := range servers {
		listens := 0
		if isSecure(server) == secure {
			listens++
		}
		if listensAt(server, portOf(port, secure)) {
			listens += 2
		}
		Walk(server, func(p Place, route caddyhttp.Route) {
			if redirected := redirectedHosts(route); redirected != nil {
				p.Hosts = redirected
			}
			fits := HostFits(p.Hosts, host)
			nearer := cmp.Or(cmp.Compare(listens, best[0]), cmp.Compare(fits, best[1]))
			if p.Errors || fits == 0 || nearer < 0 || nearer == 0 && (found.Several || found.Server != server) {
				return
			}
			switch i := slices.IndexFunc(route.Handlers, is); {
			case i < 0:
			case nearer == 0:
				found.Several = true
			default:
				best = [2]int{listens, fits}
				found = Found{Handler: route.Handlers[i], Server: server, Hosts: p.Hosts}
			}
		})
	}
	return found
}

// isSecure reports whether clients connect to a server with TLS.
func isSecure(server *caddyhttp.Server) bool { return len(server.TLSConnPolicies) > 0 }

// HostOf returns the host of a URL as clients send it, without the port. It returns "" for a path.
func HostOf(url string) string {
	host, _ := addr.SplitPort(AsSent(addr.Authority(url), true))
	return host
}

// HostFits returns how closely the hosts of a site match a host. Zero means no match.
func HostFits(names []string, host string) int {
	if len(names) == 0 {
		return 1 // any host
	}
	h := HostsOfServer(nil)
	h.Add(names)
	switch label, named := h.Label(addr.Unbracket(host)); {
	case named:
		return 3
	case label != judge.OtherName:
		return 2
	}
	return 0
}

// listensAt reports whether a server listens at a port.
func listensAt(server *caddyhttp.Server, port int) bool { return hasPort(server.Listen, port) }

// Listens reports whether one of the addresses of a server has the port of a URL. The default
// port applies to http and https URLs only.
func Listens(addresses []string, url string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(url), "://")
	secure := scheme == "https"
	_, port := addr.SplitPort(AsSent(addr.Authority(url), secure))
	return (port != "" || secure || scheme == "http") && hasPort(addresses, portOf(port, secure))
}

// hasPort reports whether one of some addresses has a port.
func hasPort(addresses []string, port int) bool {
	for _, listen := range addresses {
		address, err := caddy.ParseNetworkAddress(listen)
		if err == nil && !address.IsUnixNetwork() && !address.IsFdNetwork() &&
			int(address.StartPort) <= port && port <= int(address.EndPort) {
			return true
		}
	}
	return false
}
