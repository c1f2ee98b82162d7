package caddymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/idna"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// site is whose robots.txt a request is judged by.
type site struct {
	own     policy.Key // the site itself
	key     policy.Key // where its robots.txt comes from
	segment policy.Segment
	label   string // the configured host, otherLabel for hosts that only clients name
	named   bool   // the configuration names the site itself
}

// otherLabel is the label value of everything that has no value of its own.
const otherLabel = "_other"

// spoofedLabel stands for all clients that are known to use a false name, so
// that nothing they do is counted under it.
const spoofedLabel = "_spoofed"

// maxHost bounds the authorities that are kept as they are, in bytes. DNS allows
// 253 for a name.
const maxHost = 260

// keyOf tells whose robots.txt a request is about. It does not allocate for
// hosts that are in their usual form already.
func keyOf(r *http.Request) (key policy.Key) {
	key.Secure = r.TLS != nil
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
		// What the origin answers may depend on these two.
		if proto := r.Header.Get("X-Forwarded-Proto"); proto != "" {
			key.Secure = strings.EqualFold(proto, "https")
		}
		key.Forwarded = normalHost(r.Header.Get("X-Forwarded-Host"), key.Secure)
	}
	key.Host = normalHost(r.Host, key.Secure)
	return key
}

// localPort returns the port at which a request arrived, "" if that is not
// known.
func localPort(r *http.Request) string {
	switch addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr); addr := addr.(type) {
	case *net.TCPAddr:
		return strconv.Itoa(addr.Port)
	case *net.UDPAddr: // HTTP/3
		return strconv.Itoa(addr.Port)
	}
	return ""
}

// site returns the site of a key that was asked for at a port of this server.
func (h *hosts) site(key policy.Key, local string) site {
	s := site{own: key, key: key}
	named := false
	s.label, named = h.label(key.Host)
	if named {
		named = h.hasPort(key.Host, local)
	}
	if !named || key.Forwarded != "" && key.Forwarded != key.Host {
		s.segment = policy.Invented
	}
	s.named = s.segment == policy.Named
	return s
}

// normalHost brings the authority of a URL into its usual form: lower case,
// IDNs in punycode, no trailing dot, no default port. A digest stands for one
// that is too long for any host: a catch-all site serves it all the same, as
// Caddy does a port with a thousand zeros.
func normalHost(host string, secure bool) string {
	if len(host) > maxHost {
		digest := sha256.Sum256([]byte(host))
		return "sha256-" + hex.EncodeToString(digest[:])
	}
	defaultPort := ":80"
	if secure {
		defaultPort = ":443"
	}
	if isNormalHost(host) && !strings.HasSuffix(host, defaultPort) {
		return host
	}
	host = strings.ToLower(strings.TrimSuffix(host, defaultPort))
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.Contains(host[i:], "]") {
		name, port = host[:i], host[i:]
	}
	if ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(name, ".")); err == nil {
		return ascii + port
	}
	return strings.TrimSuffix(name, ".") + port
}

// isNormalHost reports whether a host is in its usual form but for the port.
func isNormalHost(host string) bool {
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == ':', c == '[', c == ']', c == '_':
		case c == '.':
			if i+1 == len(host) || host[i+1] == ':' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// hosts are the hosts that the configuration of one server names.
type hosts struct {
	exact     map[string]bool
	wildcards []string // such as *.example.com

	mu    sync.Mutex
	ports map[string][]string // of each host, beside the default one and the server's own
}

// maxPorts is how many ports of a configured host are held to be its own, beside
// the default one and that of the server: those of a proxy in front that maps
// ports. Clients choose the port in a request as they choose the host.
const maxPorts = 2

// hasPort reports whether the port in the authority of a configured host is one
// of that host.
func (h *hosts) hasPort(authority, local string) bool {
	host, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		host, port = authority[:i], authority[i+1:]
	}
	if port == "" || port == local {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.ports[host]
	if slices.Contains(known, port) {
		return true
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 || len(known) == maxPorts {
		return false
	}
	if h.ports == nil {
		h.ports = make(map[string][]string)
	}
	h.ports[host] = append(known, port)
	return true
}

// hostsOf collects the hosts from the matchers of a server's routes.
func hostsOf(server *caddyhttp.Server) *hosts {
	h := &hosts{exact: make(map[string]bool)}
	if server != nil {
		h.collect(server.Routes)
	}
	return h
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
		switch name = normalHost(name, true); {
		case strings.ContainsAny(name, "{}"):
			// a placeholder: only clients know what it stands for
		case strings.Contains(name, "*"):
			h.wildcards = append(h.wildcards, name)
		default:
			h.exact[name] = true
		}
	}
}

// label returns the configured host that a request's host is, without its
// port, and whether the configuration names it. For a wildcard such as
// *.example.com the label is the wildcard: clients choose the rest.
func (h *hosts) label(host string) (label string, named bool) {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.Contains(host[i:], "]") {
		host = host[:i]
	}
	if h.exact[host] {
		return host, true
	}
	for _, pattern := range h.wildcards {
		if matchesWildcard(pattern, host) {
			return pattern, false
		}
	}
	return otherLabel, false
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
