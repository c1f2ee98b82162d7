package request

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ClientAddr returns the address of the client, behind trusted proxies the one
// that they tell. It is the zero Addr where there is none.
func ClientAddr(r *http.Request) netip.Addr {
	addr, _ := netip.ParseAddr(ClientIP(r))
	return addr
}

// ClientIP is ClientAddr as Caddy has it, for logs: "" where there is none.
func ClientIP(r *http.Request) string {
	clientIP, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	return clientIP
}

// MaybeInvented reports whether the client may have written its address itself.
// Most proxies add the address that they see to an X-Forwarded-For that the
// client sent, and without trusted_proxies_strict Caddy takes the first in it. If
// others follow, of which one may be the client's, nobody can tell. Nor can anybody
// of one that [IsEarly].
func MaybeInvented(r *http.Request) bool {
	if IsEarly(r) {
		return true
	}
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	if !trusted || server == nil || server.TrustedProxiesStrict > 0 {
		return false
	}
	for _, field := range server.ClientIPHeaders {
		var first netip.Addr
		for _, value := range r.Header.Values(field) {
			for part := range strings.SplitSeq(value, ",") {
				addr := forwardedAddr(part)
				switch {
				case !first.IsValid():
					first = addr
				case strings.TrimSpace(part) == "", addr == first:
				case !addr.IsPrivate() && !addr.IsLoopback() && !addr.IsLinkLocalUnicast():
					return true
				}
			}
		}
		if first.IsValid() {
			return false // this is the field that was taken
		}
	}
	return false
}

// IsEarly reports whether a request came before the handshake of TLS was complete, in early
// data (0-RTT) of HTTP/3, here or as a proxy says (RFC 8470 section 5.1). Whoever writes
// another's address into his packets can send such a request, since he needs none of what is
// sent back to there. A client that says so itself only makes less of its address.
func IsEarly(r *http.Request) bool {
	return r.TLS != nil && !r.TLS.HandshakeComplete || r.Header["Early-Data"] != nil
}

// IsOfProxy reports whether what is taken for the address of the client is that
// of a trusted proxy, which did not tell the client's.
func IsOfProxy(r *http.Request) bool {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted && ClientAddr(r).Unmap() == forwardedAddr(r.RemoteAddr)
}

// forwardedAddr reads an address as Caddy does, with or without a port. It
// returns the zero Addr for anything else.
func forwardedAddr(part string) netip.Addr {
	host, _, err := net.SplitHostPort(part)
	if err != nil {
		host = part
	}
	host, _, _ = strings.Cut(strings.TrimSpace(host), "%")
	addr, _ := netip.ParseAddr(host)
	return addr.Unmap()
}
