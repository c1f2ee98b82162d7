package placement

import (
	"slices"
	"strings"
)

// share reports whether two lists of hosts, none for any, have one in common.
func share(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(host string) bool { return slices.Contains(b, host) })
}

// ProbeHosts returns a host for each of those of routes, none for any, that a request
// of our own can be for.
func ProbeHosts(hosts []string) []string {
	const some = "robots-guard-check"
	if len(hosts) == 0 {
		return []string{some + ".invalid"} // RFC 6761: nobody's
	}
	names := make([]string, len(hosts))
	for i, host := range hosts {
		names[i] = strings.ReplaceAll(host, "*", some)
	}
	return names
}
