package lint

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// agentPreferences has the preferences for some user-agent lines of a group.
type agentPreferences struct {
	agents []policy.Agent
	uses   preferenceLines
}

// preferenceLines has the line of the preference about each use.
type preferenceLines map[policy.Use]preferencePlace

// preferencePlace is the line and the path of a preference.
type preferencePlace struct {
	line int
	path string // empty for all pages
}

// add records the first line about a use. A line about all pages has priority.
func (u preferenceLines) add(use policy.Use, at preferencePlace) {
	before, ok := u[use]
	if !ok || before.path != "" && at.path == "" || (before.path == "") == (at.path == "") && at.line < before.line {
		u[use] = at
	}
}

// forAgents returns the preferences for the agents of a Content-Usage line.
func (g *groupPreferences) forAgents(agents []policy.Agent) preferenceLines {
	if n := len(g.parts); n == 0 || g.parts[n-1].agents[0] != agents[0] {
		g.parts = append(g.parts, agentPreferences{agents, make(preferenceLines)})
	}
	return g.parts[len(g.parts)-1].uses
}

// forGroup returns the preferences for the whole group, for example from Content-Signal.
func (g *groupPreferences) forGroup(agents []policy.Agent) preferenceLines {
	if g.signal == nil {
		g.signal = &agentPreferences{agents: agents, uses: make(preferenceLines)}
	}
	return g.signal.uses
}

// preferencesByName returns the preferences for each lower-case name, with an empty name for *. A name whose
// lines have no preferences has no uses.
func preferencesByName(groups map[int]*groupPreferences) map[string]preferenceLines {
	all := make(map[string]preferenceLines)
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
					all[name] = make(preferenceLines)
				}
				for use, at := range p.uses {
					all[name].add(use, at)
				}
			}
		}
	}
	return all
}

// checkLost finds groups that omit preferences of the * group. A named crawler obeys only its own
// group (RFC 9309 section 2.2.1).
func (c *checker) checkLost(groups map[int]*groupPreferences) {
	byName := preferencesByName(groups)
	if len(byName[""]) == 0 {
		return
	}
	for i, g := range c.groups {
		if c.disallows(i, "").Rule.Line > 0 {
			continue
		}
		hidden := make(preferenceLines)
		for use, at := range byName[""] {
			if at.path == "" || c.disallows(i, at.path).Rule.Line == 0 {
				hidden[use] = at
			}
		}
		for _, a := range g.Agents {
			name := strings.ToLower(trimName(a.Name))
			if name != "" && !policy.IsTraining(a.Name) && c.losesPreference(a, byName[name], hidden) {
				break // one finding per group
			}
		}
	}
}

// losesPreference adds a finding about the preferences missing for an agent, and reports whether
// any are missing. own is nil if the agent has no preferences.
func (c *checker) losesPreference(a policy.Agent, own, hidden preferenceLines) bool {
	if own != nil && len(own) == 0 {
		return false // another finding reports its line
	}
	var what []string
	first := 0
	for _, use := range policy.Uses() {
		at, ok := hidden[use]
		if _, repeated := own[use]; !ok || repeated {
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
		c.addOnce(PreferenceLost, a.Line, "%s obeys only this group, so the preferences in line %d do not apply to this crawler; repeat line %[2]d here", quoted(a.Name), first)
	default:
		c.addOnce(PreferenceLost, a.Line, "%s obeys only this group, so the preference in line %d about %s does not apply to it; repeat it here", quoted(a.Name), first, strings.Join(what, " and "))
	}
	return true
}
