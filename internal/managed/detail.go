package managed

import (
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxTurns is the maximum number of future changes in a report. For each, the file must be
// composed.
const maxTurns = 100

// RuleReports returns a report of each rule for a host, in force or not. now decides which rules
// are over or still to come.
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
			Name: r.name, Effect: strings.Join(r.linesForHost(host), ", "), For: append([]string{}, r.For...), State: state,
			From: r.window.From, Until: r.window.Until, Hosts: r.Hosts, Reason: r.Reason, Owner: r.Owner, Ticket: r.Ticket, Position: r.At,
		})
	}
	return all
}

// FutureChanges returns the times after the period at which rules begin or end at a host, until the
// horizon and at most maxTurns. Each has the lines that the file gains and loses. The base is
// assumed to stay the same.
func (p Period) FutureChanges(base []byte, host string, now time.Time) []report.ScheduledChange {
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
		one.Added, one.Removed = subtractLines(after, before), subtractLines(before, after)
		all, before = append(all, one), after
	}
	return all
}

// fileLines returns the lines of the period's robots.txt without comments, or nil if the file
// cannot be composed.
func (p Period) fileLines(base []byte, host string) (lines []string) {
	text, err := p.compilePlan().Compose(base, host)
	if err != nil {
		return nil
	}
	for _, line := range splitLines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// subtractLines returns lines without the lines in others. A line that occurs n times in others is
// removed n times.
func subtractLines(lines, others []string) []string {
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

// linesForHost returns the robots.txt lines that state the rule, with the placeholder replaced by
// host.
func (r *rule) linesForHost(host string) (lines []string) {
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

// AddedLines returns the lines of a composed file that come from the plan, each with the names of
// its rules. text is the file for host.
func (p *Plan) AddedLines(text, host string) []report.ManagedLine {
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

// rulesByLine returns, for each line number of a composed file, the rules that the line expresses.
// A preference line may combine several rules.
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
		if written, ok := parseBasePreference(line); ok && sources == nil {
			for _, rule := range p.rulesForGroup(groups[r.Group]) {
				if rule.preference != nil && len(written.subtract([]preference{*rule.preference}).uses) == 0 {
					sources = appendDistinct(sources, rule)
				}
			}
		}
		if sources != nil {
			rules[r.Line] = sources
		}
	}
	return rules
}

// rulesByText returns the rules for the crawlers of g, by the text of the lines that they add.
func (p *Plan) rulesByText(g policy.Group, host string) map[string][]*rule {
	byText := make(map[string][]*rule)
	for _, r := range p.rulesForGroup(g) {
		for _, line := range r.linesForHost(host) {
			byText[line] = appendDistinct(byText[line], r)
		}
	}
	return byText
}

// appendDistinct appends r unless a rule with its name is in rules.
func appendDistinct(rules []*rule, r *rule) []*rule {
	if slices.ContainsFunc(rules, func(other *rule) bool { return other.name == r.name }) {
		return rules
	}
	return append(rules, r)
}

// rulesForGroup returns the rules for the crawlers that g names, and the preferences about all
// crawlers.
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

// FindingReports returns the problems that the plan adds to a base, for a report. text is the file
// composed from base for host.
func (p *Plan) FindingReports(base, text []byte, host string) []report.ManagedFinding {
	all := []report.ManagedFinding{}
	for _, f := range p.findProblems(base, text, host) {
		all = append(all, report.ManagedFinding{
			Code: string(f.Code), Severity: f.Severity.String(), Rules: append([]string{}, f.Rules...), Position: f.Position, Message: f.Message,
		})
	}
	return all
}
