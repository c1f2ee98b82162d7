package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// FoundHandler is the result of [FindHandler]: a handler with its server and the hosts of its site.
type FoundHandler struct {
	Handler caddyhttp.MiddlewareHandler // Handler is nil if none was found.
	Server  *caddyhttp.Server
	Hosts   []string // Hosts is empty if the site is for any host.
	// Ambiguous is true if several handlers of the server fit equally well. Their other matchers
	// decide which handler gets a request.
	Ambiguous bool
}

// FindHandler returns the handler for requests to an authority, over https or http. It considers
// only handlers for which matches returns true. Proxies, http_port and https_port may map ports, so
// several handlers may fit. FindHandler prefers, in this order:
//   - a server that listens on the port of the authority
//   - a server with TLS for https, and without TLS for http
//   - a site that names the host, then a wildcard, then a site for any host
//   - the first handler in the configuration
func FindHandler(servers []*caddyhttp.Server, authority string, secure bool, matches func(caddyhttp.MiddlewareHandler) bool) (found FoundHandler) {
	host, port := addr.SplitPort(HostAsSent(authority, secure))
	best := [2]int{}
	for _, server := range servers {
		listens := 0
		if usesTLS(server) == secure {
			listens++
		}
		if listensOnPort(server, parsePortOrDefault(port, secure)) {
			listens += 2
		}
		WalkRoutes(server, func(p RoutePlace, route caddyhttp.Route) {
			if redirected := redirectedHosts(route); redirected != nil {
				p.Hosts = redirected
			}
			fits := HostMatchScore(p.Hosts, host)
			nearer := cmp.Or(cmp.Compare(listens, best[0]), cmp.Compare(fits, best[1]))
			if p.IsErrorRoute || fits == 0 || nearer < 0 || nearer == 0 && (found.Ambiguous || found.Server != server) {
				return
			}
			switch i := slices.IndexFunc(route.Handlers, matches); {
			case i < 0:
			case nearer == 0:
				found.Ambiguous = true
			default:
				best = [2]int{listens, fits}
				found = FoundHandler{Handler: route.Handlers[i], Server: server, Hosts: p.Hosts}
			}
		})
	}
	return found
}

// HostOfURL returns the host of a URL as clients send it, without the port. HostOfURL returns ""
// for a path.
func HostOfURL(url string) string {
	host, _ := addr.SplitPort(HostAsSent(addr.AuthorityOfURL(url), true))
	return host
}

// HostMatchScore returns how closely the host names of a site match a host: 3 for the same name, 2
// for a wildcard, 1 for a site for any host (no names), 0 for no match.
func HostMatchScore(names []string, host string) int {
	if len(names) == 0 {
		return 1 // The site is for any host.
	}
	h := NewHosts(nil)
	h.AddNames(names)
	switch label, named := h.Label(addr.Unbracket(host)); {
	case named:
		return 3
	case label != judge.OtherName:
		return 2
	}
	return 0
}

// ListensOnPortOfURL reports whether a server with these listen addresses listens on the port of a
// URL. A URL without a port has the default port of http or https. With another scheme, the URL
// must have a port.
func ListensOnPortOfURL(addresses []string, url string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(url), "://")
	secure := scheme == "https"
	_, port := addr.SplitPort(HostAsSent(addr.AuthorityOfURL(url), secure))
	return (port != "" || secure || scheme == "http") && hasPort(addresses, parsePortOrDefault(port, secure))
}

// FindRedirectedHandler is like [FindHandler], but follows Caddy's automatic redirect to https. If
// an http authority has only this redirect, FindRedirectedHandler returns the handler for the https
// authority, and this authority as target. Otherwise target is "".
func FindRedirectedHandler(servers []*caddyhttp.Server, authority string, secure bool, matches func(caddyhttp.MiddlewareHandler) bool) (found FoundHandler, target string) {
	if !secure {
		host, _ := addr.SplitPort(HostAsSent(authority, false))
		first := FindHandler(servers, authority, false, func(caddyhttp.MiddlewareHandler) bool { return true })
		// Without hosts, the route is Caddy's last route for any host, after all other sites.
		if location := httpsRedirectLocation(first.Handler); location != "" && len(first.Hosts) > 0 && !usesTLS(first.Server) {
			target = HostAsSent(strings.TrimSuffix(strings.Replace(location, redirectHost, host, 1), redirectURI), true)
			if found = FindHandler(servers, target, true, matches); found.Handler != nil && usesTLS(found.Server) {
				return found, target
			}
		}
	}
	return FindHandler(servers, authority, secure, matches), ""
}

// The Location of an automatic redirect begins with redirectHost and ends with redirectURI. A port
// can stand between them.
const (
	redirectHost = "https://{http.request.host}"
	redirectURI  = "{http.request.uri}"
)

// httpsRedirectLocation returns the Location of Caddy's automatic redirect to https, or "" for
// another handler. A redirect from the owner's configuration does not count, since it may have
// conditions. The owner's handler is a pointer, and Caddy's own handler is a value.
func httpsRedirectLocation(h caddyhttp.MiddlewareHandler) string {
	response, ok := h.(caddyhttp.StaticResponse)
	if location := response.Headers.Get("Location"); ok && strings.HasPrefix(location, redirectHost) && strings.HasSuffix(location, redirectURI) {
		return location
	}
	return ""
}

// redirectedHosts returns the hosts of Caddy's automatic redirect to https, or nil for another
// route. The matchers of an automatic redirect are values, and an owner's matchers are pointers.
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
