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

// Gate selects the findings that stop a file. Errors always do. Warnings adds warnings, and Off
// disables the gate.
type Gate struct{ Warnings, Off bool }

// Stops returns the first finding that stops a file, or nil.
func (g Gate) Stops(findings []Finding) *Finding {
	i := slices.IndexFunc(findings, func(f Finding) bool {
		return f.Severity == policy.Error || g.Warnings && f.Severity == policy.Warning
	})
	if g.Off || i < 0 {
		return nil
	}
	return &findings[i]
}

// Check returns an error if a file for a host must not be published.
func (g Gate) Check(plan *Plan, base, text []byte, host string) error {
	if g.Off {
		return nil
	}
	var found []Finding
	if g.Warnings {
		found = plan.checkText(base, text, host)
	} else {
		found = plan.checkErrors(base, text, host)
	}
	if f := g.Stops(found); f != nil {
		return fmt.Errorf("gate: %s", f)
	}
	return nil
}

// The codes of findings about rules. Package lint has the other codes.
const (
	// RuleOver is a rule that has ended.
	RuleOver policy.Code = "rule-over"
	// RuleBrief is a rule that ends before most crawlers refetch robots.txt.
	RuleBrief policy.Code = "rule-brief"
	// RuleIdle is a rule without effect for a crawler.
	RuleIdle policy.Code = "rule-idle"
	// RuleOpens is a rule that allows a path that the base disallows.
	RuleOpens policy.Code = "rule-opens-base"
	// PreferenceReplaced is a rule that replaces an opposite training preference of the base.
	PreferenceReplaced policy.Code = "preference-replaced"
)

// Finding is a problem of a file or of its rules, for the owner.
type Finding struct {
	Severity policy.Severity `json:"severity"`
	Code     policy.Code     `json:"code"`
	Rules    []string        `json:"rules,omitempty"` // names of the rules; empty for the file as a whole
	At       string          `json:"at,omitempty"`    // position of the first rule, "" if unknown
	Host     string          `json:"host,omitempty"`  // "" for hosts that no rule names
	From     time.Time       `json:"from,omitzero"`   // start of the file; zero for the present file
	Message  string          `json:"message"`
}

// String returns the finding in one line, without the position of the rule.
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

// checkErrors finds lines that no crawler reads. A full lint takes 50 times as long. Lint has only
// one other kind of error, invalid sitemaps, which are found when the rules are loaded.
func (p *Plan) checkErrors(base, text []byte, host string) []Finding {
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
	return p.newFindings(base, text, robots, host, errorsOf(policy.Parse(base)), errorsOf(robots))
}

// checkText checks a file that the plan made from a base for a host.
func (p *Plan) checkText(base, text []byte, host string) []Finding {
	before, after := policy.Parse(base), policy.Parse(text)
	found := p.newFindings(base, text, after, host, lint.CheckParsed(before, lint.Options{}).Findings, lint.CheckParsed(after, lint.Options{}).Findings)
	return append(found, p.checkRules(before, after, host)...)
}

// newFindings returns the findings of a file that the base does not have. The base belongs to the
// owner.
func (p *Plan) newFindings(base, text []byte, robots *policy.Robots, host string, before, after []lint.Finding) (found []Finding) {
	var sources map[int][]*rule
	known := make(map[string]bool)
	for _, f := range before {
		known[string(f.Code)+"\n"+lineIn(base, f.Line)] = true
	}
	for _, f := range after {
		line := lineIn(text, f.Line)
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
				finding.Rules, finding.At = append(finding.Rules, r.name), cmp.Or(finding.At, r.At)
			}
		}
		if f.Code == lint.NeverWins && len(finding.Rules) > 0 {
			finding.Code = RuleIdle
		}
		found = append(found, finding)
	}
	return found
}

// intended are the findings that a rule causes intentionally. Examples are names that no client sends,
// retired crawlers of a class, and search engines that are disallowed by name.
var intended = []policy.Code{lint.EmptyFile, lint.RobotsOnly, lint.Retired, lint.SearchForbidden, lint.ContentUsage, lint.ContentSignal}

// lineIn returns the line with a number.
func lineIn(text []byte, number int) string {
	for line := range strings.Lines(string(text)) {
		if number--; number == 0 {
			return strings.Trim(line, " \t\r\n")
		}
	}
	return ""
}

// checkRules finds rules that allow paths that the base disallows, and rules without effect.
func (p *Plan) checkRules(before, after *policy.Robots, host string) (found []Finding) {
	for _, folded := range p.order {
		w := p.byCrawler[folded]
		was, is := before.Select(true, w.groupNames()...), after.Select(true, w.groupNames()...)
		if policy.IsTraining(w.name) {
			was, is = before.TrainingGroup(), after.TrainingGroup()
		}
		for _, r := range w.rules {
			if line := w.replacedLine(before, was, r, host); line > 0 {
				found = append(found, Finding{Severity: policy.Warning, Code: PreferenceReplaced, Rules: []string{r.name}, At: r.At,
					Message: fmt.Sprintf("it replaces line %d of the robots.txt of the site, which states the opposite in the group %s", line, w.name)})
			}
			for _, path := range r.Paths {
				if !r.Allow && is.Judge(sample(path, host)).Allowed {
					found = append(found, Finding{Severity: policy.Warning, Code: RuleIdle, Rules: []string{r.name}, At: r.At,
						Message: fmt.Sprintf("%s may still fetch %s, because a longer or equal pattern allows it; remove that pattern, or the rule", w.name, path)})
				}
			}
			if path, opens := opened(before, was, is, r, host); opens {
				found = append(found, Finding{Severity: policy.Warning, Code: RuleOpens, Rules: []string{r.name}, At: r.At,
					Message: fmt.Sprintf("it opens %s to %s, which the robots.txt of the site forbids", path, w.name)})
			}
		}
	}
	return found
}

// replacedLine returns the line of the base that a rule replaces with the opposite, or 0. The line is a
// usage preference in the * group, or an allow rule in a group that expresses a preference. opened
// finds the other differences.
func (w *crawlerRules) replacedLine(base *policy.Robots, was *policy.SelectedGroup, r *rule, host string) (line int) {
	if r.preference != nil && w.name == AnyCrawler {
		var target policy.Target
		target.Set(sample(r.preference.path, host), false)
		for _, s := range base.DecidingStatements(was, &target, "") {
			if _, opposes := s.ConflictingUse(r.preference.policyUses()); opposes && s.Source == r.preference.kind {
				return s.Line
			}
		}
		return 0
	}
	isPreference := policy.IsTraining(w.name) || w.crawler != nil && w.crawler.Controls != "" && was.Named()
	if !isPreference || r.Allow || r.lines("")[0] != w.wholeSite {
		return 0
	}
	for _, x := range was.Rules() {
		if x.Allow && x.Path != "" {
			return x.Line
		}
	}
	return 0
}

// opened returns a path that a rule newly allows. It checks the paths of the base and of the rule.
func opened(base *policy.Robots, was, is *policy.SelectedGroup, r *rule, host string) (path string, found bool) {
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
		if s := sample(path, host); !was.Judge(s).Allowed && is.Judge(s).Allowed {
			return path, true
		}
	}
	return "", false
}

// sample returns a path that a pattern matches at a host.
func sample(pattern, host string) string { return exampleOf(atHost(pattern, host)) }

// exampleOf returns a path that a pattern matches.
func exampleOf(pattern string) string {
	return "/" + strings.TrimPrefix(withoutWildcards.Replace(pattern), "/")
}

var withoutWildcards = strings.NewReplacer("*", "x", "$", "")
