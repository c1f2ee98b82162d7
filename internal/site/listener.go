package site

import (
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// defaultPort returns the default port of a scheme.
func defaultPort(secure bool) int {
	if secure {
		return 443
	}
	return 80
}

// PortOf returns the number of a port with its colon. It returns 0 for "", and if the port is not a
// number.
func PortOf(port string) int {
	if port == "" {
		return 0
	}
	number, _ := strconv.Atoi(port[1:])
	return number
}

// portOrDefault returns the number of a port with its colon. It returns the default port for "", and
// 0 if the port is not a number.
func portOrDefault(port string, secure bool) int {
	if port == "" {
		return defaultPort(secure)
	}
	return PortOf(port)
}

// isPort reports whether a port with its colon is this port in canonical form.
func isPort(port string, number int) bool {
	n, err := strconv.ParseUint(port[1:], 10, 16)
	return err == nil && int(n) == number && port[1] != '0'
}

// isSecure reports whether clients connect to a server with TLS.
func isSecure(server *caddyhttp.Server) bool { return len(server.TLSConnPolicies) > 0 }

// listensAt reports whether a server listens at a port.
func listensAt(server *caddyhttp.Server, port int) bool { return hasPort(server.Listen, port) }

// hasPort reports whether any of the addresses has a port.
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

// ListenAddresses returns the listen addresses of a server, joined by commas. It identifies a
// server in keys, see serverName.
func ListenAddresses(server *caddyhttp.Server) string { return strings.Join(server.Listen, ",") }
