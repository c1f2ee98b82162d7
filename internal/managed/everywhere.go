package managed

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// A preference about all crawlers is written into the * group and into every other group. A crawler
// that a group names ignores the * group. A group's own preference about the same use and pages wins.

// missing returns the lines of the preferences about all crawlers that a group lacks.
func (p *Plan) missing(lines []string) []string {
	if len(p.everywhere) == 0 || isClosed(lines) {
		return nil
	}
	own := readPreferences(lines)
	var lacks []preference
	for _, r := range p.everywhere {
		if rest := r.preference.without(own); len(rest.says) > 0 {
			lacks = append(lacks, rest)
		}
	}
	return linesOf(lacks)
}

// mostSeen is the maximum number of lines to read for all crawlers of the base. It limits the time
// for a hostile base, because each name copies its group.
const mostSeen = 1_000_000

// repeat writes the preferences about all crawlers into the remaining groups of the base. If the
// crawlers of a group lack different preferences, those with missing preferences leave the group.
// They are returned as blocks.
func (c *composition) repeat() (moved []*block) {
	if len(c.plan.everywhere) == 0 {
		return nil
	}
	places := c.file.byName()
	missing := make(map[string][]string)
	for folded, at := range places {
		if folded == Everybody || policy.IsTraining(folded) {
			continue
		}
		lines := c.file.content(at)
		if c.seen += len(lines); c.seen > mostSeen {
			c.tooMany = true
			return nil
		}
		if w := c.plan.asked[folded]; w != nil {
			lines = slices.Concat(lines, w.paths, linesOf(w.prefers))
		}
		missing[folded] = c.plan.missing(lines)
	}
	for i := range c.file.groups {
		left := c.file.left(i)
		if uniform(left, missing) {
			continue
		}
		for _, a := range left {
			folded := strings.ToLower(a.Name)
			if lacks := missing[folded]; len(lacks) > 0 {
				lines := closed(append(c.file.content(places[folded]), lacks...))
				if c.moved += len(strings.Join(lines, "\n")); c.moved > policy.MaxSize {
					c.tooMany = true
					return nil
				}
				moved = append(moved, &block{comment: c.plan.comment(), names: []string{a.Name}, lines: lines})
				c.file.remove(places[folded])
			}
		}
	}
	for i := range c.file.groups {
		if left := c.file.left(i); len(left) > 0 && !isEverybody(left[0].Name) {
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
	w := new(wish)
	for _, r := range p.everywhere {
		if !slices.Contains(w.ids, r.name) {
			w.ids = append(w.ids, r.name)
		}
	}
	return w.comment()
}

// byName returns the user-agent lines by folded name.
func (f *file) byName() map[string][]place {
	all := make(map[string][]place)
	for i, g := range f.groups {
		for _, a := range g.Agents {
			folded := strings.ToLower(a.Name)
			if isEverybody(a.Name) {
				folded = Everybody
			}
			all[folded] = append(all[folded], place{i, a})
		}
	}
	return all
}

// left returns the user-agent lines of a group that were not removed.
func (f *file) left(group int) (agents []policy.Agent) {
	for _, a := range f.groups[group].Agents {
		if !f.removed[a.Line] {
			agents = append(agents, a)
		}
	}
	return agents
}
