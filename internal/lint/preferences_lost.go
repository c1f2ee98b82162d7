package lint

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// part has the preferences for some user-agent lines of a group.
type part struct {
	agents []policy.Agent
	uses   uses
}

// uses has the line of the preference about each use.
type uses map[policy.Use]place

// place is the line and the path of a preference.
type place struct {
	line int
	path string // empty for all pages
}

// note records the first line about a use. A line about all pages has priority.
func (u uses) note(use policy.Use, at place) {
	before, ok := u[use]
	if !ok || before.path != "" && at.path == "" || (before.path == "") == (at.path == "") && at.line < before.line {
		u[use] = at
	}
}

// partOf returns the preferences for the agents of a Content-Usage line.
func (g *groupPreferences) partOf(agents []policy.Agent) uses {
	if n := len(g.parts); n == 0 || g.parts[n-1].agents[0] != agents[0] {
		g.parts = append(g.parts, part{agents, make(uses)})
	}
	return g.parts[len(g.parts)-1].uses
}

// whole returns the preferences for the whole group, for example from Content-Signal.
func (g *groupPreferences) whole(agents []policy.Agent) uses {
	if g.signal == nil {
		g.signal = &part{agents: agents, uses: make(uses)}
	}
	return g.signal.uses
}

// byName returns the preferences for each lower-case name, with an empty name for *. A name whose
// lines have no preferences has no uses.
func byName(groups map[int]*groupPreferences) map[string]uses {
	all := make(map[string]uses)
	for _, g := range groups {
		parts := g.parts
		if g.signal != nil {
			parts = append(parts, *g.signal)
		}
		for _, p := range parts {
			for _, a := range p.agents {
				name := strings.ToLower(trimName(a.Name))
				if name == "" && !isWildcardName(a.Name) {
					continue
				}
				if all[name] == nil {
					all[name] = make(uses)
				}
				for use, at := range p.uses {
					all[name].note(use, at)
				}
			}
		}
	}
	return all
}

// checkLost finds groups that omit preferences of the * group. A named crawler obeys only its own
// group (RFC 9309 section 2.2.1).
func (c *checker) checkLost(groups map[int]*groupPreferences) {
	told := byName(groups)
	if len(told[""]) == 0 {
		return
	}
	for i, g := range c.groups {
		if c.forbidden(i, "").Rule.Line > 0 {
			continue
		}
		hidden := make(uses)
		for use, at := range told[""] {
			if at.path == "" || c.forbidden(i, at.path).Rule.Line == 0 {
				hidden[use] = at
			}
		}
		for _, a := range g.Agents {
			name := strings.ToLower(trimName(a.Name))
			if name != "" && !policy.IsTraining(a.Name) && c.lost(a, told[name], hidden) {
				break // one finding per group
			}
		}
	}
}

// lost adds a finding about the preferences that an agent does not get. own is nil if the agent has
// no preferences. It reports whether there is a difference.
func (c *checker) lost(a policy.Agent, own, hidden uses) bool {
	if own != nil && len(own) == 0 {
		return false // another finding reports its line
	}
	var what []string
	first := 0
	for _, use := range policy.Uses() {
		at, ok := hidden[use]
		if _, told := own[use]; !ok || told {
			continue
		}
		what = append(what, use.String())
		if first == 0 || at.line < first {
			first = at.line
		}
	}
	switch {
	case len(what) == 0:
		return false
	case own == nil:
		c.addOnce(PreferenceLost, a.Line, "%s obeys this group alone, so what line %d states about use is not stated to it; repeat that line here", quoted(a.Name), first)
	default:
		c.addOnce(PreferenceLost, a.Line, "%s obeys this group alone, so what line %d states about %s is not stated to it; repeat that here", quoted(a.Name), first, strings.Join(what, " and "))
	}
	return true
}
