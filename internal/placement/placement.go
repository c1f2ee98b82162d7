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

// Placed is one of our handlers with where it stands.
type Placed struct {
	Name    string // Guard, Dashboard or RobotsTXT
	Config  json.RawMessage
	Server  string
	Listen  []string // the addresses of the server, as [Server.Placed] knows them
	LedTo   bool     // automatic HTTPS redirects requests by http to the server, as far as that knows
	Hosts   []string // of the routes around it, none for any
	Matches []Match  // the other matchers on the way to it
	Behind  string   // a handler before it that answers every request, "" for none
	Hides   string   // a handler behind it that no request comes to, "" for none
	Guarded bool     // every request has come through a guard before
	Cached  string   // a handler before it that may answer with what it was given for others, "" for none
	Early   []Early  // handlers that should stand behind it
	Again   bool     // some requests come through another guard before, which counts them

	reach  string  // equal for handlers that meet the same requests
	before *passed // handlers that a request may have come through
	groups []string
	open   bool   // see isOpen
	only   string // the one path, or one of a few, that comes to it; "" for more
}

// passed is a handler that a request may have come through, with those before it.
type passed struct {
	name    string
	config  json.RawMessage
	hosts   []string // of the routes around it, none for any
	reach   string   // as that of Placed
	matches []Match  // of the routes that lead to it
	group   string   // of routes of which a request takes one
	asks    bool     // it goes by what another server answers, as forward_auth does
	answers bool     // it lets no request pass
	before  *passed

	caches bool   // it keeps answers for others
	early  bool   // it uses a verdict as a request comes to it, or answers for /robots.txt
	blind  string // a matcher on the way to it that uses a verdict, "" for none
	// The nearest handlers before it that are told apart, so that nobody goes through those
	// of all other sites: a guard, and one that caches, uses a verdict or answers for /robots.txt.
	guard, odd *passed
}

// pass returns a handler as one that a request has come through.
func pass(h *handler, config json.RawMessage, here way, before *passed) *passed {
	name := h.Handler
	b := &passed{name: name, config: config, hosts: here.hosts, reach: here.reach, matches: here.matches, before: before}
	b.asks, b.answers = len(h.HandleResponse) > 0, h.answersAll()
	b.caches, b.early, b.blind = slices.Contains(caches, name), name == RobotsTXT || b.usesVerdict(), here.blind()
	if before != nil {
		b.guard, b.odd = before.nearestGuard(), before.nearestOdd()
	}
	return b
}

// nearestGuard returns a handler or the nearest before it that is a guard, nil for none.
func (b *passed) nearestGuard() *passed {
	if b == nil || b.name == Guard {
		return b
	}
	return b.guard
}

// nearestOdd returns a handler or the nearest before it that caches, uses a verdict or
// answers for /robots.txt.
func (b *passed) nearestOdd() *passed {
	if b == nil || b.caches || b.early || b.blind != "" {
		return b
	}
	return b.odd
}

// within reports whether all that comes to one place comes to another, by the reach of both.
func within(inner, outer string) bool {
	return strings.HasPrefix(inner, outer) && (len(inner) == len(outer) || inner[len(outer)] == '\n')
}

// Site names whose requests come to the handler.
func (p *Placed) Site() string {
	if len(p.Hosts) == 0 {
		return "the site for any host of server " + p.Server
	}
	return "site " + strings.Join(p.Hosts, ", ")
}
