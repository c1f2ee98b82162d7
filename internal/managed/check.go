package managed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// horizon is how far ahead files are checked. It is longer than a year, to include yearly rules.
const horizon = 400 * 24 * time.Hour

// rulesPerFile is the average number of rules per file up to which the maximum number of files is
// checked. With more rules, fewer files are checked, because each needs more time.
const rulesPerFile = 200

// Report has the findings about the files of a schedule.
type Report struct {
	Findings []Finding `json:"findings"`
	Texts    int       `json:"texts"` // checked files
	Left     int       `json:"-"`     // files beyond the limit, which were not checked
}

// Check checks the files that the schedule makes from a base, from now until the horizon. most is the
// maximum number of files. Hosts without own rules come first. A finding about several files is
// returned once, for the first file.
func (s *Schedule) Check(base []byte, now time.Time, most int) (r Report) {
	for i := range s.rules {
		rule := &s.rules[i]
		f := Finding{Rules: []string{rule.name}, At: rule.At}
		switch who, lag := s.slowest(rule); {
		case rule.window.Until.IsZero():
			continue
		case !rule.window.Until.After(now):
			f.Severity, f.Code = policy.Info, RuleOver
			f.Message = fmt.Sprintf("it ended at %s and will not be in force again; remove it", rule.window.Until.Format(time.RFC3339))
		case !rule.window.From.IsZero() && rule.window.Until.Sub(rule.window.From) < lag:
			f.Severity, f.Code = policy.Warning, RuleBrief
			f.Message = fmt.Sprintf("it is in force for %s, but %s may need %g hours to read it, and a crawler obeys it only after that; make it longer, or let it begin earlier",
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
	work := 0 // number of composed rules
	check := func(t *table, host string) {
		for p, ok := t.period(now), true; ok && p.Start().Before(now.Add(horizon)); p, ok = p.next() {
			if r.Texts == most || r.Texts > 0 && work > most*rulesPerFile {
				r.Left++
				continue
			}
			r.Texts++
			work += len(t.rules)
			for _, f := range p.check(base, host) {
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
	done := map[*table]bool{s.common: true}
	check(s.common, "")
	for _, of := range []struct {
		tables map[string]*table
		prefix string
	}{{s.exact, ""}, {s.below, "*."}} {
		for _, host := range slices.Sorted(maps.Keys(of.tables)) {
			if t := of.tables[host]; !done[t] {
				done[t] = true
				check(t, of.prefix+host)
			}
		}
	}
	return r
}

// slowest returns the crawler of a rule that may refetch robots.txt last, and its delay. The default
// is 24 hours (RFC 9309 section 2.4). Some operators document a longer delay.
func (s *Schedule) slowest(r *rule) (who string, lag time.Duration) {
	who, lag = "a crawler", policy.MaxAge
	for _, name := range r.tokens {
		if c := s.names.registry.Lookup(name); c != nil && c.RobotsLag.Max > lag {
			who, lag = c.Token, c.RobotsLag.Max
		}
	}
	return who, lag
}

// ExampleHost returns an example host for a wildcard or for any host.
func ExampleHost(host string) string {
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		return "www." + rest
	}
	return cmp.Or(host, "www.example.com")
}

// check checks the file of a period.
func (p Period) check(base []byte, host string) []Finding {
	plan := p.newPlan()
	text, err := plan.Compose(base, ExampleHost(host))
	if err != nil {
		return []Finding{{Severity: policy.Error, Code: policy.TooLarge, Host: host, Message: err.Error()}}
	}
	found := plan.checkText(base, text, ExampleHost(host))
	for i := range found {
		found[i].Host = host
	}
	return found
}
