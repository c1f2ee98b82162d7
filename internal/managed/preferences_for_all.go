package managed

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// A preference about all crawlers is written into the * group and into every other group. A crawler
// that a group names ignores the * group. A group's own preference about the same use and pages wins.

// missingPreferences returns the lines of the preferences about all crawlers that a group lacks.
func (p *Plan) missingPreferences(lines []string) []string {
	if len(p.forAll) == 0 || disallowsAll(lines) {
		return nil
	}
	own := readPreferences(lines)
	var lacks []preference
	for _, r := range p.forAll {
		if rest := r.preference.without(own); len(rest.uses) > 0 {
			lacks = append(lacks, rest)
		}
	}
	return preferenceLines(lacks)
}

// maxReadLines is the maximum number of lines to read for all crawlers of the base. It limits the time
// for a hostile base, because each name copies its group.
const maxReadLines = 1_000_000

// addPreferences writes the preferences about all crawlers into the remaining groups of the base. If the
// crawlers of a group lack different preferences, those with missing preferences leave the group.
// They are returned as blocks.
func (c *composition) addPreferences() (moved []*block) {
	if len(c.plan.forAll) == 0 {
		return nil
	}
	places := c.file.byName()
	missing := make(map[string][]string)
	for folded, at := range places {
		if folded == AnyCrawler || policy.IsTraining(folded) {
			continue
		}
		lines := c.file.content(at)
		if c.readLines += len(lines); c.readLines > maxReadLines {
			c.tooMany = true
			return nil
		}
		if w := c.plan.byCrawler[folded]; w != nil {
			lines = slices.Concat(lines, w.paths, preferenceLines(w.preferences))
		}
		missing[folded] = c.plan.missingPreferences(lines)
	}
	for i := range c.file.groups {
		left := c.file.remainingAgents(i)
		if uniform(left, missing) {
			continue
		}
		for _, a := range left {
			folded := strings.ToLower(a.Name)
			if lacks := missing[folded]; len(lacks) > 0 {
				lines := withRule(append(c.file.content(places[folded]), lacks...))
				if c.movedBytes += len(strings.Join(lines, "\n")); c.movedBytes > policy.MaxSize {
					c.tooMany = true
					return nil
				}
				moved = append(moved, &block{comment: c.plan.comment(), names: []string{a.Name}, lines: lines})
				c.file.remove(places[folded])
			}
		}
	}
	for i := range c.file.groups {
		if left := c.file.remainingAgents(i); len(left) > 0 && !isWildcard(left[0].Name) {
			if lacks := missing[strings.ToLower(left[0].Name)]; len(lacks) > 0 {
				c.file.insert(i, append([]string{c.plan.comment()}, lacks...))
			}
		}
	}
	return moved
}

// uniform reports whether all crawlers of a group lack the same preferences.
func uniform(agents []policy.Agent, missing map[string][]string) bool {
	for _, a := range agents {
		if !slices.Equal(missing[strings.ToLower(a.Name)], missing[strings.ToLower(agents[0].Name)]) {
			return false
		}
	}
	return true
}

// comment returns the comment with the rules of the preferences about all crawlers.
func (p *Plan) comment() string {
	w := new(crawlerRules)
	for _, r := range p.forAll {
		w.ids = append(w.ids, r.name)
	}
	w.ids = unique(w.ids)
	return w.comment()
}

// byName returns the user-agent lines by folded name.
func (f *file) byName() map[string][]agentLine {
	all := make(map[string][]agentLine)
	for i, g := range f.groups {
		for _, a := range g.Agents {
			folded := strings.ToLower(a.Name)
			if isWildcard(a.Name) {
				folded = AnyCrawler
			}
			all[folded] = append(all[folded], agentLine{i, a})
		}
	}
	return all
}

// remainingAgents returns the user-agent lines of a group that were not removed.
func (f *file) remainingAgents(group int) (agents []policy.Agent) {
	for _, a := range f.groups[group].Agents {
		if !f.removed[a.Line] {
			agents = append(agents, a)
		}
	}
	return agents
}
