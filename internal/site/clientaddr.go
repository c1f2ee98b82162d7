package site

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ClientAddr returns the client's IP address as determined by Caddy, which believes trusted
// proxies. ClientAddr returns the zero Addr if the address is unknown or invalid.
func ClientAddr(r *http.Request) netip.Addr {
	addr, _ := netip.ParseAddr(ClientIP(r))
	return addr
}

// ClientIP returns the client's IP address in Caddy's format, for logs, or "" if it is unknown.
func ClientIP(r *http.Request) string {
	clientIP, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	return clientIP
}

// AddrMayBeForged reports whether the client may have invented the address that [ClientAddr]
// returns. Most proxies append the client's address to the X-Forwarded-For from the client. Without
// trusted_proxies_strict Caddy uses the first address in this field. If more addresses follow, the
// client may have written the first address itself. The source address of a request in early data,
// see [IsEarlyData], may be invented too.
func AddrMayBeForged(r *http.Request) bool {
	if IsEarlyData(r) {
		return true
	}
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !IsTrustedProxy(r) || server == nil || server.TrustedProxiesStrict > 0 {
		return false
	}
	for _, field := range server.ClientIPHeaders {
		var first netip.Addr
		for _, value := range r.Header.Values(field) {
			for part := range strings.SplitSeq(value, ",") {
				addr := parseForwardedAddr(part)
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
			return false // Caddy took the address from this field.
		}
	}
	return false
}

// IsEarlyData reports whether a request arrived before the TLS handshake was complete, in early
// data (0-RTT) of HTTP/3, here or at a proxy (RFC 8470 section 5.1). A client can send early data
// with a forged source address, because the client does not need the response packets. A client
// that sends the header Early-Data itself only makes its own address untrusted.
func IsEarlyData(r *http.Request) bool {
	return r.TLS != nil && !r.TLS.HandshakeComplete || r.Header["Early-Data"] != nil
}

// HasProxyAddr reports whether the client address is the address of a trusted proxy, because the
// proxy did not send the client's address.
func HasProxyAddr(r *http.Request) bool {
	return IsTrustedProxy(r) && ClientAddr(r).Unmap() == parseForwardedAddr(r.RemoteAddr)
}

// parseForwardedAddr parses an IP address with or without a port, as Caddy does. parseForwardedAddr
// returns the zero Addr for invalid input.
func parseForwardedAddr(part string) netip.Addr {
	host, _, err := net.SplitHostPort(part)
	if err != nil {
		host = part
	}
	host, _, _ = strings.Cut(strings.TrimSpace(host), "%")
	addr, _ := netip.ParseAddr(host)
	return addr.Unmap()
}
