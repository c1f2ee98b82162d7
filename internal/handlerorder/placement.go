package handlerorder

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

// These are the JSON names of this module's matchers that use the verdict of a guard.
const (
	Disallowed = "robots_disallowed"
	Preference = "robots_preference"
	Rate       = "robots_rate"
)

var verdictMatchers = []string{Disallowed, Preference, Rate}

// PlacedHandler is a handler of this module with its position in the routes.
type PlacedHandler struct {
	Name   string // Name is Guard, Dashboard or RobotsTXT.
	Config json.RawMessage
	Server string
	Listen []string // Listen has the addresses of the server. [Server.PlacedHandlers] sets it.
	// HasHTTPSRedirect is true if automatic HTTPS redirects http requests to the server.
	// [Server.PlacedHandlers] sets it.
	HasHTTPSRedirect bool
	Hosts            []string  // Hosts are the hosts of the enclosing routes. It is empty for any host.
	Matchers         []Matcher // Matchers are the other matchers of the enclosing routes.
	BlockingHandler  string    // BlockingHandler is an earlier handler that responds to every request, or empty.
	BlockedHandler   string    // BlockedHandler is a later handler that no request reaches, or empty.

	requestKey        string            // requestKey is equal for handlers with the same requests.
	precedingHandlers *precedingHandler // precedingHandlers are the handlers that a request may have passed.
	groups            []string
	exactPath         string // exactPath is a path that a matcher requires, or empty.
	isUnauthenticated bool   // For a dashboard, lacksAuthentication sets this.
	cacheName         string // For a guard, precedingCache sets this.
}

// SiteName returns the name of the handler's site for messages, for example "site example.com".
func (p *PlacedHandler) SiteName() string { return siteName(p.Server, p.Hosts) }

func siteName(server string, hosts []string) string {
	if len(hosts) == 0 {
		return "the site for any host of server " + server
	}
	return "site " + strings.Join(hosts, ", ")
}

// precedingHandler is an element in a linked list of handlers that a request may have passed.
type precedingHandler struct {
	name       string
	hosts      []string  // hosts are the hosts of the enclosing routes. It is empty for any host.
	requestKey string    // requestKey identifies the requests that reach the handler, as in PlacedHandler.
	matchers   []Matcher // matchers are the matchers of the routes that contain the handler.
	group      string    // group is the route group. A request uses a single route of a group.
	// asksOtherServer is true if the handler continues only after another server has agreed, like
	// forward_auth.
	asksOtherServer bool
	previous        *precedingHandler
	cache           *precedingHandler // cache is the nearest cache before the handler.
}

// cacheHandlers are the handlers for caching responses: cache-handler, Souin (its base), and
// cdp-cache.
var cacheHandlers = []string{"cache", "souin", "souin_cache", "http_cache"}

// nearestCache returns b if it is a cache, otherwise the cache before b, or nil.
func (b *precedingHandler) nearestCache() *precedingHandler {
	if b == nil || slices.Contains(cacheHandlers, b.name) {
		return b
	}
	return b.cache
}

// isReachedFrom reports whether every request that reaches the position inner has also passed the
// position outer. Both are given by their requestKey.
func isReachedFrom(inner, outer string) bool {
	return strings.HasPrefix(inner, outer) && (len(inner) == len(outer) || inner[len(outer)] == '\n')
}

// hostsOverlap reports whether two lists have a common host. An empty list means any host.
func hostsOverlap(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(host string) bool { return slices.Contains(b, host) })
}
