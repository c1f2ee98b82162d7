package origin

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// The addresses that the guard's own requests to the server come from. They are reserved for
// documentation (RFC 5737, RFC 3849), so no client has them, and matchers such as remote_ip
// and client_ip take them for clients outside of the owner's network.
var (
	outside4 = netip.MustParseAddr("192.0.2.1")
	outside6 = netip.MustParseAddr("2001:db8::1")
)

// outsider is the client that the guard's own requests to a server appear to come from.
type outsider struct {
	addr   netip.Addr
	fields []string // header fields that tell the client's address behind a trusted proxy
}

// outsiderOf returns the client for a server. from is the configured address, the zero Addr
// for the default: an IPv6 address if the server listens on IPv6 only.
func outsiderOf(server *caddyhttp.Server, from netip.Addr) outsider {
	o := outsider{addr: from, fields: server.ClientIPHeaders}
	switch {
	case from.IsValid():
	case len(server.Listen) > 0 && !slices.ContainsFunc(server.Listen, acceptsIPv4):
		o.addr = outside6
	default:
		o.addr = outside4
	}
	return o
}

// acceptsIPv4 reports whether clients with an IPv4 address can reach a listener. Go listens
// on both families at [::], unless the network is tcp6 or udp6.
func acceptsIPv4(listen string) bool {
	address, err := caddy.ParseNetworkAddress(listen)
	if err != nil || strings.HasSuffix(address.Network, "6") {
		return err != nil
	}
	host, err := netip.ParseAddr(address.Host)
	return err != nil || host.Unmap().Is4() || host.IsUnspecified()
}

// remoteAddr returns the address as that of a connection.
func (o outsider) remoteAddr() string { return netip.AddrPortFrom(o.addr, 1).String() }

// setFields makes the header of a request through a trusted proxy tell the outsider's
// address. Origins read X-Forwarded-For, whichever fields
// the server itself reads.
func (o outsider) setFields(header http.Header) {
	for _, name := range append([]string{"X-Forwarded-For"}, o.fields...) {
		header.Set(name, o.addr.String())
	}
}

// isForwarded reports whether a request came through a trusted proxy, which described the
// client in the header. A request without such a field is one of the proxy's own machine, or
// of a client in the same network, and tells nothing about how outsiders arrive.
func (o outsider) isForwarded(r *http.Request) bool {
	names := append([]string{"X-Forwarded-For", request.ForwardedProto, request.ForwardedHost}, o.fields...)
	return request.IsTrustedProxy(r) && slices.ContainsFunc(names, func(name string) bool { return r.Header.Get(name) != "" })
}
