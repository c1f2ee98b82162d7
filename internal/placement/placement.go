package placement

import (
	"encoding/json"
	"slices"
	"strings"
)

// These are the names of this module's handlers in JSON.
const (
	Guard     = "robots_guard"
	Dashboard = "robots_guard_dashboard"
	RobotsTXT = "robots_txt"
)

// Disallowed is the JSON name of this module's matcher that needs a guard before it.
const Disallowed = "robots_disallowed"

// Placed is a handler of this module with its position in the routes.
type Placed struct {
	Name    string // Guard, Dashboard or RobotsTXT
	Config  json.RawMessage
	Server  string
	Listen  []string // the addresses of the server, set by [Server.Placed]
	LedTo   bool     // automatic HTTPS redirects http requests to the server, set by [Server.Placed]
	Hosts   []string // hosts of the enclosing routes; empty for any host
	Matches []Match  // the other matchers of the enclosing routes
	Behind  string   // an earlier handler that responds to every request, or empty
	Hides   string   // a later handler that no request reaches, or empty

	reach  string  // equal for handlers with the same requests
	before *passed // handlers that a request may have passed
	groups []string
	only   string // a path that a matcher requires, or empty
	open   bool   // for a dashboard, see isOpen
	cached string // for a guard, see cachedBy
}

// Site returns the name of the handler's site for messages.
func (p *Placed) Site() string { return siteName(p.Server, p.Hosts) }

func siteName(server string, hosts []string) string {
	if len(hosts) == 0 {
		return "the site for any host of server " + server
	}
	return "site " + strings.Join(hosts, ", ")
}

// passed is a linked list of handlers that a request may have passed.
type passed struct {
	name    string
	hosts   []string // hosts of the enclosing routes; empty for any host
	reach   string   // same as in Placed
	matches []Match  // matchers of the enclosing routes
	group   string   // route group; a request uses only one route of a group
	asks    bool     // continues only if another server agrees, like forward_auth
	before  *passed
	cache   *passed // the nearest cache before it
}

// caches are the handlers that cache responses for other clients: cache-handler, Souin (its base),
// and cdp-cache.
var caches = []string{"cache", "souin", "souin_cache", "http_cache"}

// nearestCache returns the nearest cache on the list, or nil.
func (b *passed) nearestCache() *passed {
	if b == nil || slices.Contains(caches, b.name) {
		return b
	}
	return b.cache
}

// within reports whether all requests at the position inner also reach the position outer.
func within(inner, outer string) bool {
	return strings.HasPrefix(inner, outer) && (len(inner) == len(outer) || inner[len(outer)] == '\n')
}

// share reports whether two lists have a common host. An empty list means any host.
func share(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(host string) bool { return slices.Contains(b, host) })
}
