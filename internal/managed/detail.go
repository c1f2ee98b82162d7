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

// Rules returns the rules of a host, including past and future rules.
func (p Period) Rules(host string, now time.Time) []report.ManagedRule {
	all := []report.ManagedRule{}
	for _, i := range p.table.rules {
		r := &p.table.schedule.rules[i]
		state := report.RuleInForce
		switch {
		case now.Before(r.window.From):
			state = report.RuleToCome
		case !r.window.has(now):
			state = report.RuleOver
		}
		all = append(all, report.ManagedRule{
			Name: r.name, Says: strings.Join(r.lines(host), ", "), For: append([]string{}, r.For...), State: state,
			From: r.window.From, Until: r.window.Until, Hosts: r.Hosts, Reason: r.Reason, Owner: r.Owner, Ticket: r.Ticket, At: r.At,
		})
	}
	return all
}

// Turns returns the future rule changes at a host. Each has the added and removed lines for the
// present base.
func (p Period) Turns(base []byte, host string, now time.Time) []report.ManagedTurn {
	all := []report.ManagedTurn{}
	t := p.table
	before := t.linesAt(p.turn, base, host)
	for turn := p.turn + 1; turn <= len(t.turns) && len(all) < maxTurns; turn++ {
		at := t.start(turn)
		if at.After(now.Add(horizon)) {
			break
		}
		one := report.ManagedTurn{At: at, Begins: []string{}, Ends: []string{}}
		for _, i := range t.rules {
			switch r := &t.schedule.rules[i]; {
			case r.window.From.Equal(at):
				one.Begins = append(one.Begins, r.name)
			case r.window.Until.Equal(at):
				one.Ends = append(one.Ends, r.name)
			}
		}
		after := t.linesAt(turn, base, host)
		one.Added, one.Removed = missingIn(after, before), missingIn(before, after)
		all, before = append(all, one), after
	}
	return all
}

// linesAt returns the lines of a turn's file, without comments. It returns none if the file cannot be
// composed.
func (t *table) linesAt(turn int, base []byte, host string) (lines []string) {
	text, err := t.newPlan(turn).Compose(base, host)
	if err != nil {
		return nil
	}
	return linesIn(string(text))
}

// linesIn returns the lines of a file, without comments.
func linesIn(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// missingIn returns the lines that are missing in others. Repeated lines are matched by number.
func missingIn(lines, others []string) []string {
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

// lines returns the lines that a rule adds at a host.
func (r *rule) lines(host string) (lines []string) {
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
		lines[i] = atHost(lines[i], host)
	}
	return lines
}

// adds reports whether a rule adds a line, or a part of a preference.
func (r *rule) adds(line, host string) bool {
	if slices.Contains(r.lines(host), line) {
		return true
	}
	p, ok := readPreference(line)
	return ok && r.preference != nil && len(p.without([]preference{*r.preference}).uses) == 0
}

// Lines returns the lines of a file that come from rules, each in the groups of the rule's crawlers.
func (p *Plan) Lines(text, host string) []report.ManagedLine {
	lines := []report.ManagedLine{}
	written := splitLines(text)
	robots := policy.Parse([]byte(text))
	groups := robots.Groups()
	add := func(number int, rules []string) {
		if len(rules) > 0 {
			lines = append(lines, report.ManagedLine{Line: number, Text: strings.TrimSpace(written[number-1]), Rules: rules})
		}
	}
	about := make([][]*rule, len(groups))
	for i, g := range groups {
		about[i] = p.rulesOf(g)
		for _, r := range g.Rules {
			add(r.Line, rulesWith(about[i], r.String(), host))
		}
	}
	for _, r := range robots.Records() {
		line := r.Key + ": " + r.Value
		switch {
		case r.Group >= 0:
			add(r.Line, rulesWith(about[r.Group], line, host))
		case slices.ContainsFunc(p.sitemaps, func(s string) bool { return atHost(s, host) == r.Value }):
			add(r.Line, []string{"sitemap"})
		case slices.ContainsFunc(p.lines, func(s string) bool { return atHost(s, host) == line }):
			add(r.Line, []string{"line"})
		}
	}
	slices.SortFunc(lines, func(a, b report.ManagedLine) int { return a.Line - b.Line })
	return lines
}

// rulesOf returns the rules for the crawlers of a group.
func (p *Plan) rulesOf(g policy.Group) (rules []*rule) {
	rules = slices.Clone(p.forAll)
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

// rulesWith returns the names of the rules that add a line.
func rulesWith(rules []*rule, line, host string) (names []string) {
	for _, r := range rules {
		if !slices.Contains(names, r.name) && r.adds(line, host) {
			names = append(names, r.name)
		}
	}
	return names
}

// Findings returns the findings about the file that the plan makes from a base.
func (p *Plan) Findings(base, text []byte, host string) []report.ManagedFound {
	all := []report.ManagedFound{}
	for _, f := range p.checkText(base, text, host) {
		all = append(all, report.ManagedFound{
			Code: string(f.Code), Severity: f.Severity.String(), Rules: append([]string{}, f.Rules...), At: f.At, Message: f.Message,
		})
	}
	return all
}
