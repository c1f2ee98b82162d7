package request

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/idna"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Hosts are the hosts that the configuration of one server names.
type Hosts struct {
	Server    *caddyhttp.Server // nil for none
	Name      string            // of the server in keys
	exact     map[string]*namedHost
	below     map[string]string // wildcards such as *.example.com by what follows their *.
	wildcards []string          // of other shapes
}

// HostsOfServer collects the hosts from the matchers of a server's routes.
func HostsOfServer(server *caddyhttp.Server) *Hosts {
	h := &Hosts{Server: server, exact: make(map[string]*namedHost), below: make(map[string]string)}
	if server != nil {
		Walk(server, func(p Place, route caddyhttp.Route) {
			if !p.Errors {
				h.Add(HostsOf(route))
			}
		})
	}
	return h
}

// Sites tell the sites of a configuration apart. The zero Sites are those of a
// server by itself.
type Sites struct {
	// Servers returns all servers of the configuration.
	Servers func() []*caddyhttp.Server
	// IsGuard reports whether a handler is a guard, or keeps something of sites as
	// guards do.
	IsGuard func(caddyhttp.MiddlewareHandler) bool

	known    sync.Map   // *caddyhttp.Server to its *Hosts, and *Hosts of none to themselves
	learning sync.Mutex // held while hosts are collected, which takes long where there are very many
}

// Of returns the hosts of a server. Who asks first collects them.
func (s *Sites) Of(server *caddyhttp.Server) *Hosts {
	if known, ok := s.known.Load(server); ok {
		return known.(*Hosts)
	}
	s.learning.Lock()
	defer s.learning.Unlock()
	if known, ok := s.known.Load(server); ok {
		return known.(*Hosts)
	}
	h := HostsOfServer(server)
	h.Name = s.serverName(server)
	s.known.Store(server, h)
	return h
}

// Add takes in hosts that the configuration names in place of a server, for [Sites.Names].
func (s *Sites) Add(hosts *Hosts) { s.known.Store(hosts, hosts) }

// Names reports whether a label is one that [Hosts.Label] returns of a host, of those that
// were collected. [judge.OtherName] is, where there are any.
func (s *Sites) Names(label string) (named bool) {
	s.known.Range(func(_, hosts any) bool {
		known, _ := hosts.(*Hosts).Label(label)
		named = known == label
		return !named
	})
	return named
}

// serverName tells a server from others with a guard for one of its hosts: the
// same host at two servers is two sites. It is where the server listens, and ""
// where there is no such other, so that instances that listen elsewhere can share
// what they know of a site.
func (s *Sites) serverName(server *caddyhttp.Server) string {
	if server == nil || s.Servers == nil {
		return ""
	}
	own := s.guardedHosts(server)
	for _, other := range s.Servers() {
		if other == server || isSecure(other) != isSecure(server) {
			continue // keys tell https from http
		}
		others := s.guardedHosts(other)
		shared := len(others) > 0 && own[""] || len(own) > 0 && others[""] // any host may be the same one
		for host := range others {
			shared = shared || own[host]
		}
		if shared {
			return listensOf(server)
		}
	}
	return ""
}

// Guarded returns how many hosts the configuration names for which it has a guard. It collects
// the hosts of their servers, for which no request has to wait then.
func (s *Sites) Guarded() (n int) {
	for _, server := range s.Servers() {
		if hosts := len(s.guardedHosts(server)); hosts > 0 {
			n += hosts
			s.Of(server)
		}
	}
	return n
}

// guardedHosts returns the configured hosts for which a server has a guard; ""
// stands for any host.
func (s *Sites) guardedHosts(server *caddyhttp.Server) map[string]bool {
	hosts := make(map[string]bool)
	Walk(server, func(p Place, route caddyhttp.Route) {
		if p.Errors || !slices.ContainsFunc(route.Handlers, s.IsGuard) {
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

// Add takes in the names of a host matcher, wildcards among them. One with a
// placeholder is left out.
func (h *Hosts) Add(names caddyhttp.MatchHost) {
	for _, name := range names {
		name = asMatched(name)
		switch rest, below := strings.CutPrefix(name, "*."); {
		case strings.ContainsAny(name, "{}"):
			// a placeholder: only clients know what it stands for
		case below && !strings.Contains(rest, "*"):
			h.below[rest] = name
		case strings.Contains(name, "*"):
			h.wildcards = append(h.wildcards, name)
		default:
			h.exact[name] = new(namedHost)
		}
	}
}

// asMatched returns the name of a host matcher as Caddy compares it.
func asMatched(name string) string {
	if ascii, err := idna.ToASCII(name); err == nil {
		name = ascii
	}
	return strings.ToLower(name)
}

// Label returns the configured host that Caddy takes a host for, in lower case
// and without its port, and whether the configuration names just that host. For
// a wildcard such as *.example.com the label is the wildcard: clients choose the
// rest.
func (h *Hosts) Label(host string) (label string, named bool) {
	if h.exact[host] != nil {
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
	return judge.OtherName, false
}

// Labels returns the labels of the names of host matchers, [judge.OtherName] for none: then
// a route is for any host.
func (h *Hosts) Labels(names []string) (labels []string) {
	if len(names) == 0 {
		return []string{judge.OtherName}
	}
	for _, name := range names {
		label, _ := h.Label(asMatched(name))
		labels = append(labels, label)
	}
	return labels
}

// Has reports whether a host is one of these, or a wildcard among them stands for it.
func (h *Hosts) Has(host string) bool {
	label, named := h.Label(host)
	return named || label != judge.OtherName
}

// configured is Label with "" for hosts that no site names, as policy.Key.Site
// has it.
func (h *Hosts) configured(host string) string {
	label, _ := h.Label(host)
	if label == judge.OtherName {
		return ""
	}
	return label
}

// Key tells whose robots.txt a request is about. A policy belongs to a configured
// site: every spelling of a host that Caddy routes to it has the same one, and it
// is read by the canonical spelling, which no client chooses. A client chooses
// the port in a request, too: that of the listener counts, any other is as none,
// for it may be the one that a proxy maps to the listener's. It does
// not allocate for hosts that are in their usual form.
func (h *Hosts) Key(r *http.Request) policy.Key {
	proxied := IsTrustedProxy(r)
	key := policy.Key{Server: h.Name, Secure: IsSecure(r, proxied)}
	host, port := cutPort(r.Host)
	if len(host) > MaxHost {
		key.Host = NormalHost(host, key.Secure)
		return key
	}
	name := host
	if !isNormalHost(host) {
		name = h.canonical(host, key.Secure)
	}
	key.Site = h.configured(addr.Unbracket(name))
	switch listener := ListenerPort(r, key.Secure, proxied); {
	case port == "" || listener == 0 || !isPort(port, listener):
		key.Host = name
	case name == host && len(host)+len(port) == len(r.Host):
		key.Host = r.Host
	default:
		key.Host = name + port
	}
	if sent := LastForwarded(r.Header, ForwardedHost); proxied && sent != r.Host { // as Site has it
		forwarded := NormalHost(sent, key.Secure)
		if asked, _ := addr.CutPort(forwarded); asked != "" && asked != name { // the proxy may map the port
			key.ForwardedHost = forwarded
		}
	}
	return key
}

// canonical returns the usual form of a host without a port if Caddy routes that
// to the same site. It compares hosts as they are sent but for case: with a
// trailing dot, or in Unicode, a configured host is another one.
func (h *Hosts) canonical(host string, secure bool) string {
	sent, name := strings.ToLower(host), NormalHost(host, secure)
	if name != sent && h.configured(addr.Unbracket(name)) != h.configured(addr.Unbracket(sent)) {
		return sent
	}
	return name
}

// defaultPort returns the port that URLs of a scheme need not name.
func defaultPort(secure bool) int {
	if secure {
		return 443
	}
	return 80
}

// PortOf returns the number of a port that stands with its colon in an authority, 0 for none.
func PortOf(port string) int {
	if port == "" {
		return 0
	}
	number, _ := strconv.Atoi(port[1:])
	return number
}

// portOf returns a port that stands with its colon in an authority, the default one for
// "". It is 0, at which no server listens, for what is no number.
func portOf(port string, secure bool) int {
	if port == "" {
		return defaultPort(secure)
	}
	number, _ := strconv.Atoi(port[1:])
	return number
}

// ListenerPort returns the port that stands in the authority of the site at which
// a request arrived, 0 if none does: the port is the default one, there is none,
// or a trusted proxy maps it.
func ListenerPort(r *http.Request, secure, proxied bool) int {
	port := 0
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		port = addr.Port
	case *net.UDPAddr: // HTTP/3
		port = addr.Port
	}
	if port == defaultPort(secure) || proxied && LastForwarded(r.Header, ForwardedProto) != "" {
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
