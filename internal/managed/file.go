package managed

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// baseFile is a base in lines and groups, with changes that render applies.
type baseFile struct {
	robots  *policy.Robots
	groups  []policy.Group
	records [][]policy.Record // The index is the number of the group.
	// usageAgents are the agents that a Content-Usage line applies to, by the number of the line,
	// counted from 1.
	usageAgents map[int][]policy.Agent
	lines       []string   // These are the original lines with line ends.
	removed     []bool     // removed reports whether a line was removed.
	added       [][]string // These lines are inserted below each line.
}

// newBaseFile parses a base.
func newBaseFile(base []byte) *baseFile {
	f := &baseFile{robots: policy.Parse(base), lines: splitLines(string(base))}
	f.groups = f.robots.Groups()
	f.records = make([][]policy.Record, len(f.groups))
	for _, r := range f.robots.Records() {
		if r.Group >= 0 {
			f.records[r.Group] = append(f.records[r.Group], r)
		}
	}
	f.usageAgents = f.robots.ContentUsageAgents()
	f.removed, f.added = make([]bool, len(f.lines)+1), make([][]string, len(f.lines)+1)
	return f
}

// splitLines splits a text after each LF, CR or CRLF. The line ends remain.
func splitLines(text string) (lines []string) {
	for text != "" {
		end := strings.IndexAny(text, "\r\n") + 1
		switch {
		case end == 0:
			end = len(text)
		case text[end-1] == '\r' && end < len(text) && text[end] == '\n':
			end++
		}
		lines = append(lines, text[:end])
		text = text[end:]
	}
	return lines
}

// agentLine is a user-agent line in a group of the base.
type agentLine struct {
	group int
	agent policy.Agent
}

// findAgentLines returns the user-agent lines that name a crawler, in file order. The name may be
// "*".
func (f *baseFile) findAgentLines(name string) (places []agentLine) {
	if name != AnyCrawler && !policy.IsTraining(name) && !f.robots.NamesToken(name) {
		return nil
	}
	for i, g := range f.groups {
		for _, a := range g.Agents {
			if name == AnyCrawler && isWildcard(a.Name) || policy.NameMatches(a.Name, name) {
				places = append(places, agentLine{i, a})
			}
		}
	}
	return places
}

// isWildcard reports whether the value of a user-agent line means all crawlers, as "*" does.
func isWildcard(name string) bool {
	return name == AnyCrawler || strings.HasPrefix(name, "* ") || strings.HasPrefix(name, "*\t")
}

// findObeyedGroup returns the user-agent lines of the group that a crawler with these names obeys.
// The result is nil if the crawler obeys the * group.
func (f *baseFile) findObeyedGroup(names groupNames) []agentLine {
	for _, name := range names {
		if places := f.findAgentLines(name); places != nil {
			return places
		}
	}
	return nil
}

// groupContent returns the rules and extension lines that apply to the crawler of some user-agent
// lines.
//
// If an extension line stands between the user-agent lines of a group, crawlers disagree about the
// user-agent lines above it. Their Disallow lines are then left out, so that a copy is never
// stricter than the group. After a Content-Usage line, the next user-agent line starts another
// group (draft-ietf-aipref-attach-05).
func (f *baseFile) groupContent(places []agentLine) (lines []string) {
	done := make(map[int]bool)
	for _, p := range places {
		if done[p.group] {
			continue
		}
		g := f.groups[p.group]
		whole := slices.ContainsFunc(places, func(q agentLine) bool { return q.group == p.group && !f.isSeparatedFromRules(q) })
		for _, line := range f.contentLineNumbers(p.group) {
			if agents := f.usageAgents[line]; agents != nil && !hasAgentLineBetween(places, agents[0].Line, line) {
				continue // This line does not apply to the crawler.
			}
			if whole || !slices.ContainsFunc(g.Rules, func(r policy.Rule) bool { return r.Line == line && !r.Allow }) {
				lines = append(lines, f.trimmedLine(line))
			}
		}
		done[p.group] = true
	}
	return lines
}

// hasAgentLineBetween reports whether one of the user-agent lines has a line number in [from, before).
// places must be in file order.
func hasAgentLineBetween(places []agentLine, from, before int) bool {
	i, _ := slices.BinarySearchFunc(places, from, func(p agentLine, line int) int { return p.agent.Line - line })
	return i < len(places) && places[i].agent.Line < before
}

// isSeparatedFromRules reports whether an extension line stands between p and the last user-agent
// line of its group, so that some crawlers do not apply the group's rules to p.
func (f *baseFile) isSeparatedFromRules(p agentLine) bool {
	last := f.groups[p.group].Agents[len(f.groups[p.group].Agents)-1]
	return slices.ContainsFunc(f.records[p.group], func(r policy.Record) bool { return r.Line > p.agent.Line && r.Line < last.Line })
}

// contentLineNumbers returns the sorted line numbers of the rules and extension lines of a group.
func (f *baseFile) contentLineNumbers(group int) (lines []int) {
	for _, r := range f.groups[group].Rules {
		lines = append(lines, r.Line)
	}
	for _, r := range f.records[group] {
		lines = append(lines, r.Line)
	}
	slices.Sort(lines)
	return lines
}

// trimmedLine returns the line with a number, without comment and surrounding space.
func (f *baseFile) trimmedLine(number int) string {
	s, _, _ := strings.Cut(f.lines[number-1], "#")
	s, _, _ = strings.Cut(s, "\x00")
	return strings.Trim(s, " \t\r\n")
}

// removeAgentLines removes user-agent lines, and the rules and extension lines of their groups that
// then apply to no crawler.
func (f *baseFile) removeAgentLines(places []agentLine) {
	for _, p := range places {
		f.removed[p.agent.Line] = true
		agents := f.groups[p.group].Agents
		last := 0 // last is the number of the last remaining user-agent line above the line.
		for _, line := range f.contentLineNumbers(p.group) {
			for ; len(agents) > 0 && agents[0].Line < line; agents = agents[1:] {
				if !f.removed[agents[0].Line] {
					last = agents[0].Line
				}
			}
			from := 1
			if section := f.usageAgents[line]; section != nil {
				from = section[0].Line
			}
			if last < from {
				f.removed[line] = true
			}
		}
	}
}

// remainingAgentLines returns the user-agent lines of a group that were not removed.
func (f *baseFile) remainingAgentLines(group int) (places []agentLine) {
	for _, a := range f.groups[group].Agents {
		if !f.removed[a.Line] {
			places = append(places, agentLine{group, a})
		}
	}
	return places
}

// findExclusiveGroup returns the index of the group whose only user-agent line is the only element
// of places, or -1.
func (f *baseFile) findExclusiveGroup(places []agentLine) int {
	if len(places) == 1 && len(f.groups[places[0].group].Agents) == 1 {
		return places[0].group
	}
	return -1
}

// insertIntoGroup inserts lines at the end of a group.
func (f *baseFile) insertIntoGroup(group int, lines []string) {
	last := f.lastLineNumber(group)
	f.added[last] = append(f.added[last], lines...)
}

// insertIntoUsageSections inserts Content-Usage lines below each last Content-Usage line between two
// adjacent remaining user-agent lines of a group. Content-Usage lines at the end of the group do not
// apply to the user-agent lines above such a line.
func (f *baseFile) insertIntoUsageSections(group int, lines []string) {
	usages := slices.DeleteFunc(f.contentLineNumbers(group), func(line int) bool { return f.usageAgents[line] == nil || f.removed[line] })
	left := f.remainingAgentLines(group)
	for i, line := range usages {
		next := len(f.lines) + 1
		if i+1 < len(usages) {
			next = usages[i+1]
		}
		if hasAgentLineBetween(left, line, next) {
			f.added[line] = append(f.added[line], lines...)
		}
	}
}

// addedToGroup returns the lines, including comments, that were inserted at the end of a group.
func (f *baseFile) addedToGroup(group int) []string { return f.added[f.lastLineNumber(group)] }

// lastLineNumber returns the number of the line below which insertIntoGroup inserts lines.
func (f *baseFile) lastLineNumber(group int) int {
	agents := f.groups[group].Agents
	last := agents[len(agents)-1].Line
	if below := f.contentLineNumbers(group); len(below) > 0 {
		last = max(last, below[len(below)-1])
	}
	return last
}

// render returns the text of the base with all changes. Groups can be appended to the result.
func (f *baseFile) render() string {
	var b strings.Builder
	for i, line := range f.lines {
		if f.removed[i+1] {
			line = ""
		}
		b.WriteString(line)
		for j, added := range f.added[i+1] {
			if j == 0 && line != "" && !strings.ContainsAny(line[len(line)-1:], "\r\n") {
				b.WriteByte('\n')
			}
			b.WriteString(added + "\n")
		}
	}
	if s := b.String(); s != "" && !strings.ContainsAny(s[len(s)-1:], "\r\n") {
		b.WriteByte('\n')
	}
	if f.lastGroupMayContinue() {
		b.WriteString("Disallow:\n")
	}
	return b.String()
}

// lastGroupMayContinue reports whether a crawler might add the user-agent lines of an appended
// group to the last group. This is so if the last group has no Allow or Disallow line.
func (f *baseFile) lastGroupMayContinue() bool {
	last := len(f.groups) - 1
	if last < 0 || !slices.ContainsFunc(f.groups[last].Agents, func(a policy.Agent) bool { return !f.removed[a.Line] }) {
		return false
	}
	return !slices.ContainsFunc(f.groups[last].Rules, func(r policy.Rule) bool { return isRuleLine(f.trimmedLine(r.Line)) })
}
