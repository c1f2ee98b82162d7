package placement

import (
	"encoding/json"
	"slices"
	"strings"
)

// The handlers of this module, as JSON names them.
const (
	Guard     = "robots_guard"
	Dashboard = "robots_guard_dashboard"
	RobotsTXT = "robots_txt"
)

// Disallowed is the matcher of this module that needs a guard before it, as JSON names it.
const Disallowed = "robots_disallowed"

// Placed is one of our handlers with its place in the routes.
type Placed struct {
	Name    string // Guard, Dashboard or RobotsTXT
	Config  json.RawMessage
	Server  string
	Listen  []string // the addresses of the server, set by [Server.Placed]
	LedTo   bool     // automatic HTTPS redirects http requests to the server, set by [Server.Placed]
	Hosts   []string // of the routes around it, none for any
	Matches []Match  // the other matchers that lead to it
	Behind  string   // a handler before it that answers every request, "" for none
	Hides   string   // a handler behind it that no request reaches, "" for none

	reach  string  // equal for handlers that the same requests reach
	before *passed // handlers that a request may have come through
	groups []string
	only   string // the one path, or one of a few, that reaches it; "" for more
	open   bool   // of a dashboard, see isOpen
	cached string // of a guard, see cachedBy
}

// Site names the site of a handler, for messages.
func (p *Placed) Site() string { return siteName(p.Server, p.Hosts) }

func siteName(server string, hosts []string) string {
	if len(hosts) == 0 {
		return "the site for any host of server " + server
	}
	return "site " + strings.Join(hosts, ", ")
}

// passed is a handler that a request may have come through, with those before it.
type passed struct {
	name    string
	hosts   []string // of the routes around it, none for any
	reach   string   // as that of Placed
	matches []Match  // of the routes that lead to it
	group   string   // of routes of which a request takes one
	asks    bool     // it continues by the answer of another server, as forward_auth does
	before  *passed
	cache   *passed // the nearest handler before it that caches
}

// caches are the handlers that keep answers for other clients: those of cache-handler, of
// Souin, on which it is based, and of cdp-cache.
var caches = []string{"cache", "souin", "souin_cache", "http_cache"}

// nearestCache returns a handler or the nearest before it that caches, nil for none.
func (b *passed) nearestCache() *passed {
	if b == nil || slices.Contains(caches, b.name) {
		return b
	}
	return b.cache
}

// within reports whether all requests that reach one place reach another, by the reach of both.
func within(inner, outer string) bool {
	return strings.HasPrefix(inner, outer) && (len(inner) == len(outer) || inner[len(outer)] == '\n')
}

// share reports whether two lists of hosts, none for any, have one in common.
func share(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(host string) bool { return slices.Contains(b, host) })
}
