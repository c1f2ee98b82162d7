package placement

import (
	"encoding/json"
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
	Hosts   []string // of the routes around it, none for any
	Matches []Match  // the other matchers on the way to it
	Behind  string   // a handler before it that answers every request, "" for none
	Hides   string   // a handler behind it that no request comes to, "" for none
	Guarded bool     // every request has come through a guard before
	Cached  string   // a handler before it that may answer with what it was given for others, "" for none
	Early   []Early  // handlers that should stand behind it

	reach  string  // equal for handlers that meet the same requests
	before *passed // handlers that a request may have come through
	groups []string
	open   bool   // see isOpen
	only   string // the one path, or one of a few, that comes to it; "" for more
}

// Match is a matcher.
type Match struct {
	Name   string
	Config json.RawMessage
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
	before  *passed
}

// Site names whose requests come to the handler.
func (p *Placed) Site() string {
	if len(p.Hosts) == 0 {
		return "the site for any host of server " + p.Server
	}
	return "site " + strings.Join(p.Hosts, ", ")
}
