package managed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Gate selects by severity the findings that prevent a robots.txt from being published. The zero
// value is like GateErrors.
type Gate string

// The values of Gate.
const (
	GateErrors   Gate = "error"
	GateWarnings Gate = "warning" // Errors and warnings prevent publication.
	GateOff      Gate = "off"     // No finding prevents publication.
)

// FindBlocker returns the first finding that prevents publication, or nil.
func (g Gate) FindBlocker(findings []Finding) *Finding {
	i := slices.IndexFunc(findings, func(f Finding) bool {
		return f.Severity == policy.Error || g == GateWarnings && f.Severity == policy.Warning
	})
	if g == GateOff || i < 0 {
		return nil
	}
	return &findings[i]
}

// Check returns an error if the file that plan makes from base for host must not be published. text
// is that file.
func (g Gate) Check(plan *Plan, base, text []byte, host string) error {
	if g == GateOff {
		return nil
	}
	var found []Finding
	if g == GateWarnings {
		found = plan.findProblems(base, text, host)
	} else {
		found = plan.findErrors(base, text, host)
	}
	if f := g.FindBlocker(found); f != nil {
		return fmt.Errorf("gate: %s", f)
	}
	return nil
}

// The codes of findings about rules. Package lint has the other codes.
const (
	// RuleOver is a rule that has ended.
	RuleOver policy.Code = "rule-over"
	// RuleBrief is a rule that may end before its slowest crawler fetches robots.txt again.
	RuleBrief policy.Code = "rule-brief"
	// RuleIdle is a rule without effect for a crawler.
	RuleIdle policy.Code = "rule-idle"
	// RuleOpens is a rule that allows a path that the base disallows.
	RuleOpens policy.Code = "rule-opens-base"
	// PreferenceReplaced is a rule that replaces a different preference of the base.
	PreferenceReplaced policy.Code = "preference-replaced"
)

// Finding is a problem that the owner of a site should know about: in a composed file or in its
// rules.
type Finding struct {
	Severity policy.Severity `json:"severity"`
	Code     policy.Code     `json:"code"`
	Rules    []string        `json:"rules,omitempty"` // names of the rules; empty for the file as a whole
	// Position is the position of the first rule, or "" if it is unknown.
	Position string `json:"at,omitempty"`
	Host     string `json:"host,omitempty"` // Host is "" for hosts that no rule names.
	// From is the time from which the file is served, or zero for the present file.
	From    time.Time `json:"from,omitzero"`
	Message string    `json:"message"`
}

// String returns the finding in one line with its rules, host, start and code.
func (f *Finding) String() string {
	var b strings.Builder
	if len(f.Rules) > 0 {
		b.WriteString(strings.Join(f.Rules, ", ") + ": ")
	}
	b.WriteString(f.Message)
	if f.Host != "" {
		b.WriteString("; at " + f.Host)
	}
	if !f.From.IsZero() {
		b.WriteString("; from " + f.From.Format(time.RFC3339))
	}
	return b.String() + " [" + string(f.Code) + "]"
}

// findErrors returns the problems with severity error that the parser of package policy finds in
// the composed file and not in the base. It is 50 times as fast as findProblems. Package lint also
// reports invalid sitemaps as errors, but these are refused when the rules are loaded.
func (p *Plan) findErrors(base, text []byte, host string) []Finding {
	errorsOf := func(robots *policy.Robots) (found []lint.Finding) {
		all, _ := robots.Findings()
		for _, f := range all {
			if f.Severity == policy.Error {
				found = append(found, lint.Finding{Code: f.Code, Severity: f.Severity, Line: f.Line, Message: f.Message})
			}
		}
		return found
	}
	robots := policy.Parse(text)
	return p.findingsNotInBase(base, text, robots, host, errorsOf(policy.Parse(base)), errorsOf(robots))
}

// findProblems returns the problems that the plan adds to a base. text is the file composed from
// base for host.
func (p *Plan) findProblems(base, text []byte, host string) []Finding {
	before, after := policy.Parse(base), policy.Parse(text)
	found := p.findingsNotInBase(base, text, after, host, lint.CheckParsed(before, lint.Options{}).Findings, lint.CheckParsed(after, lint.Options{}).Findings)
	return append(found, p.findRuleProblems(before, after, host)...)
}

// findingsNotInBase returns the findings in after that before lacks, each with the rules of its line.
// before are the findings about the base, which the owner wrote, and after those about the composed
// file, text.
func (p *Plan) findingsNotInBase(base, text []byte, robots *policy.Robots, host string, before, after []lint.Finding) (found []Finding) {
	if len(after) == 0 {
		return nil
	}
	baseLines, lines := splitLines(string(base)), splitLines(string(text))
	var sources map[int][]*rule
	known := make(map[string]bool)
	for _, f := range before {
		known[string(f.Code)+"\n"+trimmedLine(baseLines, f.Line)] = true
	}
	for _, f := range after {
		line := trimmedLine(lines, f.Line)
		if known[string(f.Code)+"\n"+line] || slices.Contains(intended, f.Code) {
			continue
		}
		finding := Finding{Severity: f.Severity, Code: f.Code, Message: f.Message}
		if f.Line > 0 {
			finding.Message = fmt.Sprintf("line %d of the robots.txt, %q: %s", f.Line, line, f.Message)
			if sources == nil {
				sources = p.rulesByLine(robots, host)
			}
			for _, r := range sources[f.Line] {
				finding.Rules, finding.Position = append(finding.Rules, r.name), cmp.Or(finding.Position, r.At)
			}
		}
		if f.Code == lint.RuleWithoutEffect && len(finding.Rules) > 0 {
			finding.Code = RuleIdle
		}
		found = append(found, finding)
	}
	return found
}

// intended are the codes of findings that a rule causes on purpose. For example, a rule may
// disallow a search engine by name, or a whole class of crawlers, of which some are retired.
var intended = []policy.Code{lint.EmptyFile, lint.NameNotInRequests, lint.RetiredCrawler, lint.NamedSearchEnginesDisallowed, lint.ContentUsage, lint.ContentSignal}

// trimmedLine returns the line with a number, which counts from 1, without surrounding space.
// trimmedLine returns "" for the number 0 of a finding about the whole file.
func trimmedLine(lines []string, number int) string {
	if number < 1 || number > len(lines) {
		return ""
	}
	return strings.Trim(lines[number-1], " \t\r\n")
}

// findRuleProblems returns findings about rules that have no effect, that allow paths disallowed by
// the base, or that replace a preference of the base. before is the base, and after the composed
// file.
func (p *Plan) findRuleProblems(before, after *policy.Robots, host string) (found []Finding) {
	for _, folded := range p.crawlerOrder {
		w := p.byCrawler[folded]
		was, is := before.Select(true, w.groupNames()...), after.Select(true, w.groupNames()...)
		if policy.IsTraining(w.name) {
			was, is = before.TrainingGroup(), after.TrainingGroup()
		}
		for _, r := range w.rules {
			if line := w.findReplacedLine(before, was, r, host); line > 0 {
				found = append(found, Finding{Severity: policy.Warning, Code: PreferenceReplaced, Rules: []string{r.name}, Position: r.At,
					Message: fmt.Sprintf("it replaces line %d of the robots.txt of the site, which states the opposite in the group %s", line, w.name)})
			}
			for _, path := range r.Paths {
				if !r.Allow && is.Judge(examplePathAtHost(path, host)).Allowed {
					found = append(found, Finding{Severity: policy.Warning, Code: RuleIdle, Rules: []string{r.name}, Position: r.At,
						Message: fmt.Sprintf("%s may still fetch %s, because a longer or equal pattern allows it; remove that pattern, or the rule", w.name, path)})
				}
			}
			if path, opens := findNewlyAllowed(before, was, is, r, host); opens {
				found = append(found, Finding{Severity: policy.Warning, Code: RuleOpens, Rules: []string{r.name}, Position: r.At,
					Message: fmt.Sprintf("it allows %s to fetch %s, which the robots.txt of the site disallows", w.name, path)})
			}
		}
	}
	return found
}

// findReplacedLine returns the number of the line of the base that states the opposite of r and is
// replaced by r, or 0. The line is a usage preference in the * group, or an Allow line in a group
// that expresses a preference, such as Google-Extended. was is the group that the crawler obeys in
// the base.
func (w *crawlerRules) findReplacedLine(base *policy.Robots, was *policy.SelectedGroup, r *rule, host string) (line int) {
	if r.preference != nil && w.name == AnyCrawler {
		var target policy.Target
		target.Set(examplePathAtHost(r.preference.path, host), false)
		for _, s := range base.DecidingStatements(was, &target, "") {
			if _, opposes := s.ConflictingUse(r.preference.policyPreferences()); opposes && s.Source == r.preference.kind {
				return s.Line
			}
		}
		return 0
	}
	isPreference := policy.IsTraining(w.name) || w.crawler != nil && w.crawler.Controls != "" && was.NamesCrawler()
	if !isPreference || r.Allow || r.linesForHost("")[0] != w.wholeSiteLine {
		return 0
	}
	for _, x := range was.Rules() {
		if x.Allow && x.Path != "" {
			return x.Line
		}
	}
	return 0
}

// findNewlyAllowed returns the first path pattern that r allows and the base disallowed, among the
// patterns of r, or of the base if r is for the whole site. was and is are the groups of the
// crawler before and after.
func findNewlyAllowed(base *policy.Robots, was, is *policy.SelectedGroup, r *rule, host string) (path string, found bool) {
	if !r.Allow || r.CrawlDelay != "" {
		return "", false
	}
	paths := slices.Clone(r.Paths)
	if len(paths) == 0 {
		for _, g := range base.Groups() {
			for _, rule := range g.Rules {
				paths = append(paths, rule.Path)
			}
		}
	}
	for _, path := range paths {
		if s := examplePathAtHost(path, host); !was.Judge(s).Allowed && is.Judge(s).Allowed {
			return path, true
		}
	}
	return "", false
}

// examplePathAtHost returns a path that matches a pattern, which may contain the host placeholder.
func examplePathAtHost(pattern, host string) string { return examplePath(replaceHost(pattern, host)) }

// examplePath returns a path that matches a pattern.
func examplePath(pattern string) string {
	return "/" + strings.TrimPrefix(withoutWildcards.Replace(pattern), "/")
}

var withoutWildcards = strings.NewReplacer("*", "x", "$", "")

// horizon is how far ahead files are checked. It is longer than a year, to include yearly rules.
const horizon = 400 * 24 * time.Hour

// rulesPerFile is the average number of rules per file up to which the maximum number of files is
// checked. With more rules, fewer files are checked, because each needs more time.
const rulesPerFile = 200

// CheckReport is the result of [Schedule.Check].
type CheckReport struct {
	Findings       []Finding `json:"findings"`
	CheckedFiles   int       `json:"texts"` // number of checked files
	UncheckedFiles int       `json:"-"`     // number of files beyond the limit
}

// Check lints the files that the schedule makes from a base, from now until the horizon. It checks
// at most maxFiles files, beginning with those for hosts without rules of their own. A finding
// about several files is reported once, for the first checked file.
func (s *Schedule) Check(base []byte, now time.Time, maxFiles int) (r CheckReport) {
	for i := range s.rules {
		rule := &s.rules[i]
		f := Finding{Rules: []string{rule.name}, Position: rule.At}
		switch who, lag := s.slowestCrawler(rule); {
		case rule.window.Until.IsZero():
			continue
		case !rule.window.Until.After(now):
			f.Severity, f.Code = policy.Info, RuleOver
			f.Message = fmt.Sprintf("the rule ended at %s and will not be in force again; remove the rule", rule.window.Until.Format(time.RFC3339))
		case !rule.window.From.IsZero() && rule.window.Until.Sub(rule.window.From) < lag:
			f.Severity, f.Code = policy.Warning, RuleBrief
			f.Message = fmt.Sprintf("the rule is in force for only %s, but %s may fetch robots.txt only every %g hours; let the rule begin earlier or end later",
				rule.window.Until.Sub(rule.window.From), who, lag.Hours())
			if rule.window.From.After(now) {
				f.From = rule.window.From
			}
		default:
			continue
		}
		r.Findings = append(r.Findings, f)
	}
	reported := make(map[string]bool)
	work := 0 // This counts the rules in all composed files.
	check := func(t *ruleTable, host string) {
		for p, ok := t.findPeriod(now), true; ok && p.Start().Before(now.Add(horizon)); p, ok = p.next() {
			if r.CheckedFiles == maxFiles || r.CheckedFiles > 0 && work > maxFiles*rulesPerFile {
				r.UncheckedFiles++
				continue
			}
			r.CheckedFiles++
			work += len(t.rules)
			for _, f := range p.findFileProblems(base, host) {
				key := fmt.Sprint(f.Code, f.Rules, f.Message)
				if p.Start().After(now) {
					f.From = p.Start()
				}
				if !reported[key] {
					reported[key] = true
					r.Findings = append(r.Findings, f)
				}
			}
		}
	}
	done := make(map[*ruleTable]bool)
	for _, host := range allHosts(s, s, nil) {
		if t := s.tableForHost(host); !done[t] {
			done[t] = true
			check(t, host)
		}
	}
	return r
}

// slowestCrawler returns the crawler of a rule that may wait longest before it fetches robots.txt
// again, and the time. Some operators document a longer time than the default of 24 hours (RFC 9309
// section 2.4).
func (s *Schedule) slowestCrawler(r *rule) (who string, lag time.Duration) {
	who, lag = "a crawler", policy.MaxAge
	for _, name := range r.tokens {
		if c := s.resolver.registry.Lookup(name); c != nil && c.RobotsLag.Max > lag {
			who, lag = c.Token, c.RobotsLag.Max
		}
	}
	return who, lag
}

// ExampleHost returns a host that matches a wildcard, or "www.example.com" for "". Other hosts are
// returned unchanged.
func ExampleHost(host string) string {
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		return "www." + rest
	}
	return cmp.Or(host, "www.example.com")
}

// findFileProblems composes the file of the period from a base, and returns its problems.
func (p Period) findFileProblems(base []byte, host string) []Finding {
	plan := p.compilePlan()
	text, err := plan.Compose(base, ExampleHost(host))
	if err != nil {
		return []Finding{{Severity: policy.Error, Code: policy.TooLarge, Host: host, Message: err.Error()}}
	}
	found := plan.findProblems(base, text, ExampleHost(host))
	for i := range found {
		found[i].Host = host
	}
	return found
}
