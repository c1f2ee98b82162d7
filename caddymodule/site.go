package caddymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

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

// isSecure reports whether the client came by https, as far as it or a trusted
// proxy says.
func isSecure(r *http.Request, proxied bool) bool {
	if proxied {
		if proto := r.Header.Get("X-Forwarded-Proto"); proto != "" {
			return strings.EqualFold(proto, "https")
		}
	}
	return r.TLS != nil
}

func schemeOf(secure bool) string {
	if secure {
		return "https"
	}
	return "http"
}

// isTrustedProxy reports whether a request comes from a trusted proxy.
func isTrustedProxy(r *http.Request) bool {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted
}

// newSite returns the site of a key.
func newSite(key policy.Key) site {
	s := site{own: key, key: key, label: key.Site, segment: segmentOf(key)}
	if s.label == "" {
		s.label = otherLabel
	}
	s.named = s.segment == policy.Named
	return s
}

// segmentOf returns the part of the cache that a key belongs to: hosts that only
// clients name have one of their own.
func segmentOf(key policy.Key) policy.Segment {
	if key.Source == "" && (key.Site == "" || strings.Contains(key.Site, "*") || key.Forwarded != "") {
		return policy.Invented
	}
	return policy.Named
}

// digested begins what stands for a host that is too long.
const digested = "sha256-"

// normalHost brings the authority of a URL into its usual form: lower case,
// IDNs in punycode, no trailing dot, no default port. A digest stands for one
// that is too long for any host: a catch-all site serves it all the same, as
// Caddy does a port with a thousand zeros.
func normalHost(host string, secure bool) string {
	if len(host) > maxHost {
		digest := sha256.Sum256([]byte(host))
		return digested + hex.EncodeToString(digest[:])
	}
	defaultPort := ":80"
	if secure {
		defaultPort = ":443"
	}
	if isNormalHost(host) && !strings.HasSuffix(host, defaultPort) {
		return host
	}
	host = strings.ToLower(strings.TrimSuffix(host, defaultPort))
	name, port := cutPort(host)
	if ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(name, ".")); err == nil {
		return ascii + port
	}
	return strings.TrimSuffix(name, ".") + port
}

// cutPort divides an authority into the host and the port with its colon, "" if
// it has none.
func cutPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		return authority[:i], authority[i:]
	}
	return authority, ""
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
