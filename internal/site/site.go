package site

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/idna"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Site is a website whose robots.txt applies to a request, identified by scheme, host and server.
type Site struct {
	Key    policy.Key  // Key is the key of the site's robots.txt.
	ownKey *policy.Key // ownKey is the key of the site itself if it differs from Key, else nil.
	// CacheSegment is the part of the cache for Key. UnknownHosts means that clients choose the host,
	// which can also be a host of a configured wildcard. ConfiguredHosts is also used for a source that
	// all hosts share.
	CacheSegment policy.Segment
	Label        string // Label is the configured host or wildcard, or judge.OtherName if neither matches.
	// NamedInConfig is true if the configuration names the host of the site, whatever its Key is.
	NamedInConfig bool
}

// MaxHost is the maximum length of a stored authority in bytes. DNS allows 253 for a name.
const MaxHost = 260

// In these header fields, a trusted proxy describes the request of its client.
const (
	ForwardedProto = "X-Forwarded-Proto"
	ForwardedHost  = "X-Forwarded-Host"
)

// LastForwardedLine returns the last line of the header field ForwardedProto or ForwardedHost, or
// "". Caddy's reverse_proxy forwards this whole line unchanged to the origin. If there are several
// proxies, each may have added an element, and origins use different elements.
func LastForwardedLine(header http.Header, name string) string {
	lines := header[name]
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// SplitElements yields the elements of a comma-separated value from [LastForwardedLine], without
// spaces and empty elements.
func SplitElements(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for element := range strings.SplitSeq(value, ",") {
			if element = strings.TrimSpace(element); element != "" && !yield(element) {
				return
			}
		}
	}
}

// IsSecure reports whether the client uses https. If proxied is true, a trusted proxy sent the
// request, and its X-Forwarded-Proto decides. Otherwise the connection decides.
func IsSecure(r *http.Request, proxied bool) bool {
	if proxied {
		// With several proxies, the first proxy knows the client's connection.
		proto, _, _ := strings.Cut(LastForwardedLine(r.Header, ForwardedProto), ",")
		if proto = strings.TrimSpace(proto); proto != "" {
			return strings.EqualFold(proto, "https")
		}
	}
	return r.TLS != nil
}

// SchemeOf returns "https" or "http".
func SchemeOf(secure bool) string {
	if secure {
		return "https"
	}
	return "http"
}

// IsTrustedProxy reports whether a request comes from a trusted proxy.
func IsTrustedProxy(r *http.Request) bool {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted
}

// ClientScheme reports whether the client uses https, as [IsSecure] does. ok is false if a proxy
// forwards another host, since r.Host then does not identify the site.
func ClientScheme(r *http.Request) (secure, ok bool) {
	proxied := IsTrustedProxy(r)
	if proxied {
		if sent := LastForwardedLine(r.Header, ForwardedHost); sent != "" && sent != r.Host {
			return false, false
		}
	}
	return IsSecure(r, proxied), true
}

// NewSite returns the site whose robots.txt has the given key.
func NewSite(key policy.Key) Site {
	s := Site{Key: key, Label: key.Site, CacheSegment: key.Segment()}
	if s.Label == "" {
		s.Label = judge.OtherName
	}
	s.NamedInConfig = s.CacheSegment == policy.ConfiguredHosts
	return s
}

// OwnKey returns the key that identifies the site itself. It differs from s.Key if the site uses
// the robots.txt of a separate source. The caller must not modify the result.
func (s *Site) OwnKey() *policy.Key {
	if s.ownKey != nil {
		return s.ownKey
	}
	return &s.Key
}

// WithRobotsKey returns a copy of the site with another key for its robots.txt.
func (s Site) WithRobotsKey(key policy.Key) Site {
	if key != s.Key {
		s.ownKey, s.Key = new(*s.OwnKey()), key
	}
	return s
}

// WithSource returns a copy of the site with a separate source for its robots.txt. The source of an
// unknown host has its own cache entry, so that invented hosts do not evict other entries.
func (s Site) WithSource(source string) Site {
	key := policy.Key{Source: source}
	if s.CacheSegment == policy.UnknownHosts {
		key.ForwardedHost, key.Site = s.OwnKey().Host, s.OwnKey().Site
	}
	return s.WithRobotsKey(key)
}

// Digested is the prefix of the digest in place of a host that is too long.
const Digested = "sha256-"

// NormalizeHost returns the canonical form of an authority: in lower case, IDNs in punycode,
// without trailing dot and default port. NormalizeHost returns a digest for an authority that is
// too long, because a catch-all site serves even a host or port of a thousand characters.
func NormalizeHost(host string, secure bool) string {
	if len(host) > MaxHost {
		digest := sha256.Sum256([]byte(host))
		return Digested + hex.EncodeToString(digest[:])
	}
	defaultPort := ":80"
	if secure {
		defaultPort = ":443"
	}
	if isNormalHost(host) && !strings.HasSuffix(host, defaultPort) {
		return host
	}
	host = strings.ToLower(strings.TrimSuffix(host, defaultPort))
	name, port := addr.SplitPort(host)
	if ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(name, ".")); err == nil {
		return ascii + port
	}
	return strings.TrimSuffix(name, ".") + port
}

// splitPortLikeCaddy splits an authority into the host and the port with its colon. An IPv6 address
// gets brackets. Any other host loses its brackets, even a single bracket, as in Caddy.
func splitPortLikeCaddy(authority string) (host, port string) {
	host, port = addr.SplitPort(authority)
	inner := addr.Unbracket(host)
	if colons := strings.Contains(inner, ":"); len(inner) < len(host) && colons || !colons && !strings.ContainsAny(authority, "[]") {
		return host, port
	}
	name, number, err := net.SplitHostPort(authority)
	switch {
	case err == nil:
		return name, ":" + number
	case port == "" || strings.Contains(host, ":"):
		name = strings.TrimSuffix(strings.TrimPrefix(authority, "["), "]")
	}
	if a, err := netip.ParseAddr(name); err == nil && a.Is6() {
		return "[" + name + "]", ""
	}
	if name == "" || strings.ContainsAny(name, "[]:") {
		return authority, "" // Caddy also treats this as another host.
	}
	return name, ""
}

// isNormalHost reports whether a host is in canonical form, except for the port.
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

// HostAsSent returns the Host header sent by clients for the authority of a URL. Unlike
// [NormalizeHost] it preserves a trailing dot, because Caddy treats a host with this dot as another
// host. HostAsSent removes the zone of an address (RFC 6874) and a colon without a port.
func HostAsSent(authority string, secure bool) string {
	authority = strings.TrimSuffix(authority, ":")
	host, port := addr.SplitPort(authority)
	if address, _, zoned := strings.Cut(host, "%"); zoned && strings.HasPrefix(host, "[") {
		authority = address + "]" + port
	}
	name := NormalizeHost(authority, secure)
	if !strings.HasSuffix(host, ".") || len(authority) > MaxHost {
		return name
	}
	name, port = addr.SplitPort(name)
	return name + "." + port
}
