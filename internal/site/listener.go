package site

import (
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// defaultPort returns the default port of https if secure is true, otherwise of http.
func defaultPort(secure bool) int {
	if secure {
		return 443
	}
	return 80
}

// ParsePort returns the number of a port with its colon, such as ":443". ParsePort returns 0 for
// "", and if the port is not a number.
func ParsePort(port string) int {
	if port == "" {
		return 0
	}
	number, _ := strconv.Atoi(port[1:])
	return number
}

// parsePortOrDefault returns the number of a port with its colon, such as ":443".
// parsePortOrDefault returns the default port for "", and 0 if the port is not a number.
func parsePortOrDefault(port string, secure bool) int {
	if port == "" {
		return defaultPort(secure)
	}
	return ParsePort(port)
}

// isPortNumber reports whether port, which has a colon, is the given number without leading zeros.
func isPortNumber(port string, number int) bool {
	n, err := strconv.ParseUint(port[1:], 10, 16)
	return err == nil && int(n) == number && port[1] != '0'
}

// usesTLS reports whether clients connect to a server with TLS.
func usesTLS(server *caddyhttp.Server) bool { return len(server.TLSConnPolicies) > 0 }

// listensOnPort reports whether a server listens on a port.
func listensOnPort(server *caddyhttp.Server, port int) bool { return hasPort(server.Listen, port) }

// hasPort reports whether any of the listen addresses has a port, or a range that includes the
// port.
func hasPort(addresses []string, port int) bool {
	for _, listen := range addresses {
		address, err := caddy.ParseNetworkAddress(listen)
		if err == nil && !address.IsUnixNetwork() && !address.IsFdNetwork() &&
			int(address.StartPort) <= port && port <= int(address.EndPort) {
			return true
		}
	}
	return false
}

// ListenAddresses returns the listen addresses of a server, joined by commas, which identify the
// server in [policy.Key].
func ListenAddresses(server *caddyhttp.Server) string { return strings.Join(server.Listen, ",") }
