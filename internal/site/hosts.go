package site

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/idna"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Hosts are the hosts that the configuration names for one server, including wildcards.
type Hosts struct {
	Server            *caddyhttp.Server // Server is nil for hosts without a server.
	ServerName        string            // ServerName is the name of the server in keys.
	exactHosts        map[string]*namedHost
	wildcardsBySuffix map[string]string // The key is the part of the wildcard after "*.", for example example.com.
	otherWildcards    []string          // otherWildcards are wildcards with other shapes.
}

// NewHosts returns the hosts in the host matchers of a server's routes. NewHosts returns no hosts
// for a nil server.
func NewHosts(server *caddyhttp.Server) *Hosts {
	h := &Hosts{Server: server, exactHosts: make(map[string]*namedHost), wildcardsBySuffix: make(map[string]string)}
	if server != nil {
		WalkRoutes(server, func(p RoutePlace, route caddyhttp.Route) {
			if !p.IsErrorRoute {
				h.AddNames(HostsOfRoute(route))
			}
		})
	}
	return h
}

// Sites finds the site of a request among the servers of a configuration. The zero value knows only
// the server of the request.
type Sites struct {
	// Servers returns all servers of the configuration.
	Servers func() []*caddyhttp.Server
	// ConfiguredPort returns http_port or, if secure is true, https_port of the configuration. If
	// ConfiguredPort is nil, no port mapping is known.
	ConfiguredPort func(secure bool) int
	// IsGuard reports whether a handler stores data of each site: robots_guard or robots_txt.
	IsGuard func(caddyhttp.MiddlewareHandler) bool

	// The key is a *caddyhttp.Server or, for hosts without a server, the *Hosts. The value is the
	// *Hosts.
	byServer   sync.Map
	collecting sync.Mutex // This mutex is locked during the collection of hosts, which is slow for many hosts.
}

// HostsOfServer returns the configured hosts of a server. The first call collects them.
func (s *Sites) HostsOfServer(server *caddyhttp.Server) *Hosts {
	if known, ok := s.byServer.Load(server); ok {
		return known.(*Hosts)
	}
	s.collecting.Lock()
	defer s.collecting.Unlock()
	if known, ok := s.byServer.Load(server); ok {
		return known.(*Hosts)
	}
	h := NewHosts(server)
	h.ServerName = s.serverNameInKeys(server)
	s.byServer.Store(server, h)
	return h
}

// ListensAtAuthority reports whether a server listens on the port of an authority, with TLS if
// secure is true. If the authority has no port, http_port and https_port fit too, because a port
// mapping may lead to them.
func (s *Sites) ListensAtAuthority(server *caddyhttp.Server, authority string, secure bool) bool {
	_, port := addr.SplitPort(HostAsSent(authority, secure))
	return usesTLS(server) == secure && (listensOnPort(server, parsePortOrDefault(port, secure)) ||
		port == "" && s.ConfiguredPort != nil && listensOnPort(server, s.ConfiguredPort(secure)))
}

// HostsAtAuthority returns the hosts of the server that clients reach at an authority, over https
// or http, if the server names the host of the authority. Otherwise it returns nil.
func (s *Sites) HostsAtAuthority(authority string, secure bool) *Hosts {
	if s.Servers == nil {
		return nil
	}
	host, _ := addr.SplitPort(HostAsSent(authority, secure))
	for _, server := range s.Servers() {
		if s.ListensAtAuthority(server, authority, secure) {
			if hosts := s.HostsOfServer(server); hosts.IsNamed(host) {
				return hosts
			}
		}
	}
	return nil
}

// AddHosts adds configured hosts that belong to no server, so that [Sites.IsHostLabel] includes
// their labels.
func (s *Sites) AddHosts(hosts *Hosts) { s.byServer.Store(hosts, hosts) }

// IsHostLabel reports whether label is the label of a host collected so far, see [Hosts.Label]. If
// any hosts were collected, [judge.OtherName] is a label too.
func (s *Sites) IsHostLabel(label string) (named bool) {
	s.byServer.Range(func(_, hosts any) bool {
		known, _ := hosts.(*Hosts).Label(label)
		named = known == label
		return !named
	})
	return named
}

// serverNameInKeys returns the name of a server in [policy.Key]: its listener addresses if another
// server has a guard for the same host, otherwise "". The same host at two servers is two sites.
// With an empty name, instances with other listeners can share the data of a site.
func (s *Sites) serverNameInKeys(server *caddyhttp.Server) string {
	if server == nil || s.Servers == nil {
		return ""
	}
	own := s.guardedHosts(server)
	for _, other := range s.Servers() {
		if other == server || usesTLS(other) != usesTLS(server) {
			continue // Keys contain the scheme.
		}
		others := s.guardedHosts(other)
		// A site for any host may have the same host.
		shared := len(others) > 0 && own[""] || len(own) > 0 && others[""]
		for host := range others {
			shared = shared || own[host]
		}
		if shared {
			return ListenAddresses(server)
		}
	}
	return ""
}

// NumGuardedHosts returns the number of configured hosts with a guard. It also collects the hosts
// of their servers, so that no request has to wait for the collection.
func (s *Sites) NumGuardedHosts() (n int) {
	for _, server := range s.Servers() {
		if hosts := len(s.guardedHosts(server)); hosts > 0 {
			n += hosts
			s.HostsOfServer(server)
		}
	}
	return n
}

// guardedHosts returns the hosts of those routes of a server that contain a guard, in lower case.
// "" means any host.
func (s *Sites) guardedHosts(server *caddyhttp.Server) map[string]bool {
	hosts := make(map[string]bool)
	WalkRoutes(server, func(p RoutePlace, route caddyhttp.Route) {
		if p.IsErrorRoute || !slices.ContainsFunc(route.Handlers, s.IsGuard) {
			return
		}
		for _, host := range p.Hosts {
			hosts[strings.ToLower(host)] = true
		}
		if len(p.Hosts) == 0 {
			hosts[""] = true
		}
	})
	return hosts
}

// AddNames adds the host names of a host matcher, including wildcards. AddNames ignores names with
// a placeholder.
func (h *Hosts) AddNames(names caddyhttp.MatchHost) {
	for _, name := range names {
		name = normalizePattern(name)
		switch rest, below := strings.CutPrefix(name, "*."); {
		case strings.ContainsAny(name, "{}"):
			// The value of a placeholder depends on the request.
		case below && !strings.Contains(rest, "*"):
			h.wildcardsBySuffix[rest] = name
		case strings.Contains(name, "*"):
			h.otherWildcards = append(h.otherWildcards, name)
		default:
			h.exactHosts[name] = new(namedHost)
		}
	}
}

// normalizePattern returns a name or wildcard of a host matcher in the form that Caddy compares: in
// lower case, with IDNs in punycode.
func normalizePattern(name string) string {
	if ascii, err := idna.ToASCII(name); err == nil {
		name = ascii
	}
	return strings.ToLower(name)
}

// Label returns the name of a host in metrics and reports: the configured host, the configured
// wildcard that matches host, or [judge.OtherName]. host must be in lower case, without a port.
// named is true if the configuration names the host itself. Hosts of a wildcard share a label,
// because clients choose the rest of the name.
func (h *Hosts) Label(host string) (label string, named bool) {
	if h.exactHosts[host] != nil {
		return host, true
	}
	if _, rest, ok := strings.Cut(host, "."); ok {
		if pattern := h.wildcardsBySuffix[rest]; pattern != "" {
			return pattern, false
		}
	}
	for _, pattern := range h.otherWildcards {
		if matchesWildcard(pattern, host) {
			return pattern, false
		}
	}
	return judge.OtherName, false
}

// IsNamed reports whether the configuration names the host itself, not only by a wildcard. An IPv6
// address may have brackets.
func (h *Hosts) IsNamed(host string) bool { return h.exactHosts[addr.Unbracket(host)] != nil }

// LabelsForRoute returns the label, see [Hosts.Label], of each host name or wildcard of a route. A
// route without names is for any host, and its label is [judge.OtherName].
func (h *Hosts) LabelsForRoute(names []string) (labels []string) {
	if len(names) == 0 {
		return []string{judge.OtherName}
	}
	for _, name := range names {
		label, _ := h.Label(normalizePattern(name))
		labels = append(labels, label)
	}
	return labels
}

// MatchesHost reports whether a host is a configured host or matches a configured wildcard.
func (h *Hosts) MatchesHost(host string) bool {
	label, named := h.Label(host)
	return named || label != judge.OtherName
}

// configuredName is like Label, but returns "" for a host that matches no configured name or
// wildcard, as in policy.Key.Site.
func (h *Hosts) configuredName(host string) string {
	label, _ := h.Label(host)
	if label == judge.OtherName {
		return ""
	}
	return label
}

// KeyForRequest returns the key of the robots.txt for a request. All spellings of a host that Caddy
// routes to the same site have the same key with the canonical host, so that clients cannot choose
// the key. The key has the port of the listener if the request has the same port. Any other port is
// ignored, because a proxy may map ports. KeyForRequest does not allocate for hosts in canonical
// form.
func (h *Hosts) KeyForRequest(r *http.Request) policy.Key {
	proxied := IsTrustedProxy(r)
	key := policy.Key{Server: h.ServerName, IsHTTPS: IsSecure(r, proxied)}
	host, port := splitPortLikeCaddy(r.Host)
	if len(r.Host) > MaxHost {
		host = strings.Clone(host) // Otherwise the key would keep a long port in memory.
	}
	if len(host) > MaxHost {
		key.Host = NormalizeHost(host, key.IsHTTPS)
		return key
	}
	name := host
	if !isNormalHost(host) {
		name = h.canonicalHost(host, key.IsHTTPS)
	}
	key.Site = h.configuredName(addr.Unbracket(name))
	switch listener := ListenerPort(r, key.IsHTTPS, proxied); {
	case port == "" || listener == 0 || !isPortNumber(port, listener):
		key.Host = name
	case name == host && len(host)+len(port) == len(r.Host):
		key.Host = r.Host
	default:
		key.Host = name + port
	}
	if sent := LastForwardedLine(r.Header, ForwardedHost); proxied && sent != r.Host { // ClientScheme makes the same comparison.
		for element := range SplitElements(sent) {
			// The proxy may map the port.
			if asked, _ := addr.SplitPort(NormalizeHost(element, key.IsHTTPS)); asked != "" && asked != name {
				key.ForwardedHost = NormalizeHost(sent, key.IsHTTPS)
			}
		}
	}
	return key
}

// canonicalHost returns the canonical form of a host without a port, see [NormalizeHost]. If Caddy
// routes this form to another site, canonicalHost returns the host in lower case. Caddy ignores
// only case: a host with a trailing dot or in Unicode is another host.
func (h *Hosts) canonicalHost(host string, secure bool) string {
	sent, name := strings.ToLower(host), NormalizeHost(host, secure)
	if name != sent && h.configuredName(addr.Unbracket(name)) != h.configuredName(addr.Unbracket(sent)) {
		return sent
	}
	return name
}

// ListenerPort returns the number of the port on which a request arrived. ListenerPort returns 0
// for the default port of the scheme, for a request without a listener, or if a trusted proxy maps
// the port.
func ListenerPort(r *http.Request, secure, proxied bool) int {
	port := 0
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		port = addr.Port
	case *net.UDPAddr: // This is a request over HTTP/3.
		port = addr.Port
	}
	if port == defaultPort(secure) || proxied && LastForwardedLine(r.Header, ForwardedProto) != "" {
		return 0
	}
	return port
}

// matchesWildcard reports whether each label of host equals the label of the pattern, or the label
// of the pattern is *.
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

// KeyForAuthority returns the key of the robots.txt for requests to an authority at the server of
// h. The authority must be in the form of [HostAsSent]. The result equals [Hosts.KeyForRequest] of
// a request to the authority.
func (h *Hosts) KeyForAuthority(authority string, secure bool) policy.Key {
	host, port := addr.SplitPort(authority)
	name := h.canonicalHost(host, secure)
	key := policy.Key{Server: h.ServerName, IsHTTPS: secure, Host: name, Site: h.configuredName(addr.Unbracket(name))}
	number := parsePortOrDefault(port, secure)
	if port != "" && number != defaultPort(secure) && isPortNumber(port, number) && h.Server != nil && listensOnPort(h.Server, number) {
		key.Host += port
	}
	return key
}
