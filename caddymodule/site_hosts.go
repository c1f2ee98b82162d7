package caddymodule

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/idna"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// hosts are the hosts that the configuration of one server names.
type hosts struct {
	server    *caddyhttp.Server
	name      string // of the server in keys
	exact     map[string]bool
	below     map[string]string // wildcards such as *.example.com by what follows their *.
	wildcards []string          // of other shapes
}

// hostsOf collects the hosts from the matchers of a server's routes.
func hostsOf(server *caddyhttp.Server) *hosts {
	h := &hosts{server: server, exact: make(map[string]bool), below: make(map[string]string)}
	if server != nil {
		h.collect(server.Routes)
	}
	return h
}

// hostsOf returns the hosts of a server of the app's configuration.
func (a *App) hostsOf(server *caddyhttp.Server) *hosts {
	if a.servers == nil {
		return hostsOf(server)
	}
	if known, ok := a.servers.Load(server); ok {
		return known.(*hosts)
	}
	h := hostsOf(server)
	h.name = a.serverName(server)
	known, _ := a.servers.LoadOrStore(server, h)
	return known.(*hosts)
}

// serverName tells a server from others with a guard for one of its hosts: the
// same host at two servers is two sites. It is where the server listens, and ""
// where there is no such other, so that instances that listen elsewhere can share
// what they know of a site.
func (a *App) serverName(server *caddyhttp.Server) string {
	if server == nil || a.ctx.Context == nil {
		return ""
	}
	app, err := a.ctx.AppIfConfigured("http")
	if err != nil {
		return ""
	}
	own := guardedHosts(server)
	for _, other := range app.(*caddyhttp.App).Servers {
		if other == server || (len(other.TLSConnPolicies) > 0) != (len(server.TLSConnPolicies) > 0) {
			continue // keys tell https from http
		}
		others := guardedHosts(other)
		shared := len(others) > 0 && own[""] || len(own) > 0 && others[""] // any host may be the same one
		for host := range others {
			shared = shared || own[host]
		}
		if shared {
			return strings.Join(server.Listen, ",")
		}
	}
	return ""
}

// guardedHosts returns the configured hosts for which a server has a guard; ""
// stands for any host.
func guardedHosts(server *caddyhttp.Server) map[string]bool {
	hosts := make(map[string]bool)
	var visit func(routes caddyhttp.RouteList, around []string)
	visit = func(routes caddyhttp.RouteList, around []string) {
		for _, route := range routes {
			own := hostsAround(route, around)
			for _, handler := range route.Handlers {
				switch handler := handler.(type) {
				case *caddyhttp.Subroute:
					visit(handler.Routes, own)
				case *Handler:
					for _, host := range own {
						hosts[strings.ToLower(host)] = true
					}
					if len(own) == 0 {
						hosts[""] = true
					}
				}
			}
		}
	}
	visit(server.Routes, []string{})
	for _, named := range server.NamedRoutes {
		visit(caddyhttp.RouteList{*named}, []string{}) // whatever invokes it
	}
	return hosts
}

func (h *hosts) collect(routes caddyhttp.RouteList) {
	for _, route := range routes {
		for _, set := range route.MatcherSets {
			for _, matcher := range set {
				if names, ok := matcher.(*caddyhttp.MatchHost); ok {
					h.add(*names)
				}
			}
		}
		for _, handler := range route.Handlers {
			if sub, ok := handler.(*caddyhttp.Subroute); ok {
				h.collect(sub.Routes)
			}
		}
	}
}

func (h *hosts) add(names caddyhttp.MatchHost) {
	for _, name := range names {
		if ascii, err := idna.ToASCII(name); err == nil {
			name = ascii // as Caddy does
		}
		name = strings.ToLower(name)
		switch rest, below := strings.CutPrefix(name, "*."); {
		case strings.ContainsAny(name, "{}"):
			// a placeholder: only clients know what it stands for
		case below && !strings.Contains(rest, "*"):
			h.below[rest] = name
		case strings.Contains(name, "*"):
			h.wildcards = append(h.wildcards, name)
		default:
			h.exact[name] = true
		}
	}
}

// label returns the configured host that Caddy takes a host for, in lower case
// and without its port, and whether the configuration names just that host. For
// a wildcard such as *.example.com the label is the wildcard: clients choose the
// rest.
func (h *hosts) label(host string) (label string, named bool) {
	if h.exact[host] {
		return host, true
	}
	if _, rest, ok := strings.Cut(host, "."); ok {
		if pattern := h.below[rest]; pattern != "" {
			return pattern, false
		}
	}
	for _, pattern := range h.wildcards {
		if matchesWildcard(pattern, host) {
			return pattern, false
		}
	}
	return otherLabel, false
}

// configured is label with "" for hosts that no site names, as policy.Key.Site
// has it.
func (h *hosts) configured(host string) string {
	label, _ := h.label(host)
	if label == otherLabel {
		return ""
	}
	return label
}

// key tells whose robots.txt a request is about. A policy belongs to a configured
// site: every spelling of a host that Caddy routes to it has the same one, and it
// is read by the canonical spelling, which no client chooses. A client chooses
// the port in a request, too: that of the listener counts, any other is as none,
// for it may be the one that a proxy maps to the listener's. It does
// not allocate for hosts that are in their usual form.
func (h *hosts) key(r *http.Request) policy.Key {
	proxied := isTrustedProxy(r)
	key := policy.Key{Server: h.name, Secure: isSecure(r, proxied)}
	host, port := cutPort(r.Host)
	if len(host) > maxHost {
		key.Host = normalHost(host, key.Secure)
		return key
	}
	name := host
	if !isNormalHost(host) {
		name = h.canonical(host, key.Secure)
	}
	key.Site = h.configured(unbracketed(name))
	switch listener := listenerPort(r, key.Secure, proxied); {
	case port == "" || listener == 0 || !isPort(port, listener):
		key.Host = name
	case name == host:
		key.Host = r.Host
	default:
		key.Host = name + port
	}
	if proxied {
		forwarded := normalHost(r.Header.Get("X-Forwarded-Host"), key.Secure)
		if asked, _ := cutPort(forwarded); asked != "" && asked != name { // the proxy may map the port
			key.Forwarded = forwarded
		}
	}
	return key
}

// canonical returns the usual form of a host without a port if Caddy routes that
// to the same site. It compares hosts as they are sent but for case: with a
// trailing dot, or in Unicode, a configured host is another one.
func (h *hosts) canonical(host string, secure bool) string {
	sent, name := strings.ToLower(host), normalHost(host, secure)
	if name != sent && h.configured(unbracketed(name)) != h.configured(unbracketed(sent)) {
		return sent
	}
	return name
}

// unbracketed returns an IPv6 address without its brackets, as host matchers
// have it.
func unbracketed(host string) string {
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func defaultPort(secure bool) int {
	if secure {
		return 443
	}
	return 80
}

// listenerPort returns the port that stands in the authority of the site at which
// a request arrived, 0 if none does: the port is the default one, there is none,
// or a trusted proxy maps it.
func listenerPort(r *http.Request, secure, proxied bool) int {
	port := 0
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		port = addr.Port
	case *net.UDPAddr: // HTTP/3
		port = addr.Port
	}
	if port == defaultPort(secure) || proxied && r.Header.Get("X-Forwarded-Proto") != "" {
		return 0
	}
	return port
}

// isPort reports whether a port with its colon is this one in its usual spelling.
func isPort(port string, number int) bool {
	n, err := strconv.ParseUint(port[1:], 10, 16)
	return err == nil && int(n) == number && port[1] != '0'
}

// matchesWildcard reports whether each label of host is that of the pattern or
// stands where the pattern has a *.
func matchesWildcard(pattern, host string) bool {
	for {
		p, restP, moreP := strings.Cut(pattern, ".")
		h, restH, moreH := strings.Cut(host, ".")
		if p != "*" && p != h || moreP != moreH {
			return false
		}
		if !moreP {
			return true
		}
		pattern, host = restP, restH
	}
}
