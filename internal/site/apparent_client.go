package site

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// These are the client addresses of the guard's own requests to the server. They are reserved for
// documentation (RFC 5737, RFC 3849), so no client has them. Matchers such as remote_ip and
// client_ip treat them as outside of the owner's network.
var (
	outsideIPv4 = netip.MustParseAddr("192.0.2.1")
	outsideIPv6 = netip.MustParseAddr("2001:db8::1")
)

// apparentClient is the client that the guard's own requests to a server seem to come from.
type apparentClient struct {
	addr         netip.Addr
	headerFields []string // headerFields are the header fields in which a trusted proxy sends the client's address.
}

// newApparentClient returns the client that the guard's own requests to a server seem to come from.
// configured is its address in the configuration. The zero Addr means the default: outsideIPv6 if
// the server listens on IPv6 only, else outsideIPv4.
func newApparentClient(server *caddyhttp.Server, configured netip.Addr) apparentClient {
	client := apparentClient{addr: configured, headerFields: server.ClientIPHeaders}
	switch {
	case configured.IsValid():
	case len(server.Listen) > 0 && !slices.ContainsFunc(server.Listen, acceptsIPv4):
		client.addr = outsideIPv6
	default:
		client.addr = outsideIPv4
	}
	return client
}

// acceptsIPv4 reports whether clients with an IPv4 address can reach a listener. Go listens on both
// families at [::], unless the network is tcp6 or udp6.
func acceptsIPv4(listen string) bool {
	address, err := caddy.ParseNetworkAddress(listen)
	if err != nil || strings.HasSuffix(address.Network, "6") {
		return err != nil
	}
	host, err := netip.ParseAddr(address.Host)
	return err != nil || host.Unmap().Is4() || host.IsUnspecified()
}

// remoteAddr returns the address in the format of [http.Request.RemoteAddr].
func (o apparentClient) remoteAddr() string { return netip.AddrPortFrom(o.addr, 1).String() }

// setClientFields writes the client's address into the fields in which a trusted proxy sends it.
// Origins read X-Forwarded-For, even if the server reads other fields.
func (o apparentClient) setClientFields(header http.Header) {
	for _, name := range append([]string{"X-Forwarded-For"}, o.headerFields...) {
		header.Set(name, o.addr.String())
	}
}

// isForwarded reports whether a trusted proxy forwarded a request and described the client in the
// header. A request without these fields comes from the proxy's machine or its network, and does
// not show how outside clients connect.
func (o apparentClient) isForwarded(r *http.Request) bool {
	names := append([]string{"X-Forwarded-For", ForwardedProto, ForwardedHost}, o.headerFields...)
	return IsTrustedProxy(r) && slices.ContainsFunc(names, func(name string) bool { return r.Header.Get(name) != "" })
}
