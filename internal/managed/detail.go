package managed

import (
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxTurns is the maximum number of future files to compose for a report.
const maxTurns = 100

// RuleReports returns the rules of a host, including past and future rules.
func (p Period) RuleReports(host string, now time.Time) []report.ManagedRule {
	all := []report.ManagedRule{}
	for _, i := range p.table.rules {
		r := &p.table.schedule.rules[i]
		state := report.RuleInForce
		switch {
		case now.Before(r.window.From):
			state = report.RuleToCome
		case !r.window.contains(now):
			state = report.RuleOver
		}
		all = append(all, report.ManagedRule{
			Name: r.name, Effect: strings.Join(r.linesAt(host), ", "), For: append([]string{}, r.For...), State: state,
			From: r.window.From, Until: r.window.Until, Hosts: r.Hosts, Reason: r.Reason, Owner: r.Owner, Ticket: r.Ticket, Position: r.At,
		})
	}
	return all
}

// ChangesAt returns the future rule changes at a host. Each has the added and removed lines for the
// present base.
func (p Period) ChangesAt(base []byte, host string, now time.Time) []report.ScheduledChange {
	all := []report.ScheduledChange{}
	before := p.fileLines(base, host)
	for next, ok := p.next(); ok && len(all) < maxTurns && !next.Start().After(now.Add(horizon)); next, ok = next.next() {
		one := report.ScheduledChange{At: next.Start(), Begins: []string{}, Ends: []string{}}
		for _, i := range p.table.rules {
			switch r := &p.table.schedule.rules[i]; {
			case r.window.From.Equal(one.At):
				one.Begins = append(one.Begins, r.name)
			case r.window.Until.Equal(one.At):
				one.Ends = append(one.Ends, r.name)
			}
		}
		after := next.fileLines(base, host)
		one.Added, one.Removed = linesMissingIn(after, before), linesMissingIn(before, after)
		all, before = append(all, one), after
	}
	return all
}

// fileLines returns the lines of a period's file, without comments. If the file cannot be composed, the
// result is empty.
func (p Period) fileLines(base []byte, host string) (lines []string) {
	text, err := p.newPlan().Compose(base, host)
	if err != nil {
		return nil
	}
	return rulesLines(string(text))
}

// rulesLines returns the lines of a file, without comments.
func rulesLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// linesMissingIn returns the lines missing in the other lines. Repeated lines are matched by number.
func linesMissingIn(lines, others []string) []string {
	count := make(map[string]int)
	for _, line := range others {
		count[line]++
	}
	left := []string{}
	for _, line := range lines {
		if count[line]--; count[line] < 0 {
			left = append(left, line)
		}
	}
	return left
}

// linesAt returns the lines added by a rule at a host.
func (r *rule) linesAt(host string) (lines []string) {
	switch {
	case r.CrawlDelay != "":
		lines = []string{"Crawl-delay: " + r.CrawlDelay}
	case r.preference != nil:
		lines = []string{r.preference.String()}
	case len(r.Paths) == 0:
		lines = []string{ruleLine(r.Allow, "/")}
	}
	for _, path := range r.Paths {
		lines = append(lines, ruleLine(r.Allow, path))
	}
	for i := range lines {
		lines[i] = replaceHost(lines[i], host)
	}
	return lines
}

// Lines returns the lines of a file added by rules, each in the groups of the rule's crawlers.
func (p *Plan) Lines(text, host string) []report.ManagedLine {
	lines := []report.ManagedLine{}
	written := splitLines(text)
	add := func(number int, rules ...string) {
		lines = append(lines, report.ManagedLine{Line: number, Text: strings.TrimSpace(written[number-1]), Rules: rules})
	}
	robots := policy.Parse([]byte(text))
	for number, rules := range p.rulesByLine(robots, host) {
		var names []string
		for _, r := range rules {
			names = append(names, r.name)
		}
		add(number, names...)
	}
	for _, r := range robots.Records() {
		switch {
		case r.Group >= 0:
		case slices.ContainsFunc(p.sitemaps, func(s string) bool { return replaceHost(s, host) == r.Value }):
			add(r.Line, "sitemap")
		case slices.ContainsFunc(p.extraLines, func(s string) bool { return replaceHost(s, host) == r.Key+": "+r.Value }):
			add(r.Line, "line")
		}
	}
	slices.SortFunc(lines, func(a, b report.ManagedLine) int { return a.Line - b.Line })
	return lines
}

// rulesByLine returns the rules behind a line or a part of a preference, by line number of a file.
func (p *Plan) rulesByLine(robots *policy.Robots, host string) map[int][]*rule {
	rules := make(map[int][]*rule)
	groups := robots.Groups()
	byText := make([]map[string][]*rule, len(groups))
	for i, g := range groups {
		byText[i] = p.rulesByText(g, host)
		for _, r := range g.Rules {
			if sources := byText[i][r.String()]; sources != nil {
				rules[r.Line] = sources
			}
		}
	}
	for _, r := range robots.Records() {
		if r.Group < 0 {
			continue
		}
		line := r.Key + ": " + r.Value
		sources := byText[r.Group][line]
		if written, ok := readPreference(line); ok && sources == nil {
			for _, rule := range p.rulesForGroup(groups[r.Group]) {
				if rule.preference != nil && len(written.subtract([]preference{*rule.preference}).uses) == 0 {
					sources = appendNew(sources, rule)
				}
			}
		}
		if sources != nil {
			rules[r.Line] = sources
		}
	}
	return rules
}

// rulesByText returns the rules for the crawlers of a group, by added line.
func (p *Plan) rulesByText(g policy.Group, host string) map[string][]*rule {
	byText := make(map[string][]*rule)
	for _, r := range p.rulesForGroup(g) {
		for _, line := range r.linesAt(host) {
			byText[line] = appendNew(byText[line], r)
		}
	}
	return byText
}

// appendNew appends a rule unless the rules already have its name.
func appendNew(rules []*rule, r *rule) []*rule {
	if slices.ContainsFunc(rules, func(other *rule) bool { return other.name == r.name }) {
		return rules
	}
	return append(rules, r)
}

// rulesForGroup returns the rules for the crawlers of a group.
func (p *Plan) rulesForGroup(g policy.Group) (rules []*rule) {
	rules = slices.Clone(p.preferencesForAll)
	for _, a := range g.Agents {
		name := strings.ToLower(a.Name)
		if isWildcard(a.Name) {
			name = AnyCrawler
		}
		if w := p.byCrawler[name]; w != nil {
			rules = append(rules, w.rules...)
		}
	}
	return rules
}

// FindingReports returns the findings about the file made from a base.
func (p *Plan) FindingReports(base, text []byte, host string) []report.ManagedFinding {
	all := []report.ManagedFinding{}
	for _, f := range p.checkComposed(base, text, host) {
		all = append(all, report.ManagedFinding{
			Code: string(f.Code), Severity: f.Severity.String(), Rules: append([]string{}, f.Rules...), Position: f.Position, Message: f.Message,
		})
	}
	return all
}
