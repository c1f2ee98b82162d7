package managed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestCheck(t *testing.T) {
	const base = "User-agent: *\nDisallow: /private/\nAllow: /pub/a\nDisalow: /y\nSitemap: /relative.xml\n"
	open := time.Time{}
	for _, tc := range []struct {
		name string
		rule Rule
		code policy.Code // "" for none
		says string
	}{
		{"what is all right", during(disallow("GPTBot", "/a"), "r", open, open), "", ""},
		{"a class with names for a robots.txt alone", during(disallow("ai_training"), "r", open, open), "", ""},
		{"a search engine by name", during(disallow("bingbot"), "r", open, open), "", ""},
		{"over", during(disallow("GPTBot", "/a"), "r", open, epoch), RuleOver, "the rule ended at 2026-11-27T00:00:00Z"},
		{"too short to be known", during(disallow("GPTBot", "/a"), "r", epoch.Add(time.Hour), epoch.Add(24*time.Hour)), RuleBrief, "the rule is in force for only 23h0m0s, but a crawler may fetch robots.txt only every 24 hours"},
		{"as long as it takes", during(disallow("GPTBot", "/a"), "r", epoch.Add(time.Hour), epoch.Add(25*time.Hour)), "", ""},
		{"too short for one that is slow", during(disallow("DuckAssistBot", "/a"), "r", epoch.Add(time.Hour), epoch.Add(72*time.Hour)), RuleBrief, "the rule is in force for only 71h0m0s, but DuckAssistBot may fetch robots.txt only every 72 hours"},
		{"as long as that takes", during(disallow("DuckAssistBot", "/a"), "r", epoch.Add(time.Hour), epoch.Add(73*time.Hour)), "", ""},
		{"open at its beginning", during(disallow("GPTBot", "/a"), "r", open, epoch.Add(time.Hour)), "", ""},
		{"opens a path", during(allow("bingbot", "/private/press"), "r", open, open), RuleOpens, "it allows bingbot to fetch /private/press"},
		{"opens all", during(allow("bingbot"), "r", open, open), RuleOpens, "it allows bingbot to fetch /private/,"},
		{"left out of the text", during(disallow("bingbot", "/pub/a"), "r", open, open), RuleIdle, "bingbot may still fetch /pub/a"},
		{"a path with the host", during(disallow("GPTBot", "/"+hostPlaceholder+"/a", "/a"), "r", open, open), "", ""},
		{"opens a path with the host", during(allow("bingbot", "/private/"+hostPlaceholder), "r", open, open), RuleOpens, "it allows bingbot to fetch /private/" + hostPlaceholder},
		{"forbidden already, with the host", during(disallow("bingbot", "/private/"+hostPlaceholder), "r", open, open), lint.CoveredRule, `"Disallow: /private/www.example.com"`},
		{"forbidden already", during(disallow("bingbot", "/private/x"), "r", epoch.Add(time.Hour), open), lint.CoveredRule, `"Disallow: /private/x"`},
		{"all search engines", during(disallow("*"), "r", open, open), lint.SearchEnginesDisallowed, "search engines"},
		{"beyond the horizon", during(allow("bingbot"), "r", epoch.Add(401*24*time.Hour), open), "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.rule.At = "Caddyfile:7"
			report := newSchedule(t, tc.rule).Check([]byte(base), epoch, 100)
			if tc.code == "" {
				if len(report.Findings) > 0 {
					t.Errorf("found %+v", report.Findings)
				}
				return
			}
			i := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Code == tc.code })
			if i < 0 {
				t.Fatalf("not among %+v", report.Findings)
			}
			f := report.Findings[i]
			if !strings.Contains(f.String(), "rule r: ") || !strings.Contains(f.Message, tc.says) || f.Position != "Caddyfile:7" {
				t.Errorf("%+v, want %s", f, tc.says)
			}
			if got := formatTime(f.From); got != tc.rule.From {
				t.Errorf("from %v, want %v", f.From, tc.rule.From)
			}
		})
	}
}

// TestCheckIsBounded limits the number of checked files, and reports a repeated finding once.
func TestCheckIsBounded(t *testing.T) {
	rules := []Rule{allow("bingbot", "/private/press")}
	for i := range 50 {
		host := fmt.Sprintf("h%d.test", i)
		rules = append(rules, during(disallow("GPTBot", "/own"), host, epoch.Add(time.Duration(i)*time.Minute), time.Time{}, host))
	}
	report := newSchedule(t, rules...).Check([]byte("User-agent: *\nDisallow: /private/\n"), epoch.Add(-1), 60)
	if report.CheckedFiles != 60 || report.UncheckedFiles != 41 || len(report.Findings) != 1 {
		t.Errorf("%d texts, %d left, found %+v", report.CheckedFiles, report.UncheckedFiles, report.Findings)
	}
}

func TestGate(t *testing.T) {
	all := []Finding{{Severity: policy.Info}, {Severity: policy.Warning}, {Severity: policy.Error}}
	for _, tc := range []struct {
		gate  Gate
		among []Finding
		stops bool
	}{
		{GateErrors, all, true}, {"", all[:2], false}, {GateWarnings, all[:2], true},
		{GateWarnings, all[:1], false}, {GateOff, all, false}, {GateErrors, nil, false},
	} {
		if got := tc.gate.FindBlocker(tc.among) != nil; got != tc.stops {
			t.Errorf("%+v of %+v stops: %t", tc.gate, tc.among, got)
		}
	}
}

// TestBaseStopsNothing checks that lint findings in the base do not stop a file.
func TestBaseStopsNothing(t *testing.T) {
	plan, err := planOf(uaident.Default(), []Rule{disallow("GPTBot")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	base := []byte("Disallow: /x\nUser-agent: *\nDisallow: y\nSitemap: /s.xml\n")
	text, err := plan.Compose(base, "")
	if err = errors.Join(err, GateWarnings.Check(plan, base, text, ""), GateErrors.Check(plan, base, text, "")); err != nil {
		t.Error(err)
	}
	if err := GateErrors.Check(plan, []byte("User-agent: *\nDisallow: /\n"), text, ""); err == nil {
		t.Error("rules that nobody reads are let pass where the base does not have them")
	}
}

// TestCheckWithHosts checks {host} with an example host.
func TestCheckWithHosts(t *testing.T) {
	rules := []Rule{during(disallow("GPTBot", "/a"), "r", epoch, time.Time{}, "*.b.example")}
	s, err := NewSchedule(uaident.Default(), Spec{Rules: rules, Sitemaps: []string{"https://" + hostPlaceholder + "/s.xml"}})
	if err != nil {
		t.Fatal(err)
	}
	if report := s.Check(nil, epoch, 100); len(report.Findings) > 0 || report.CheckedFiles != 2 {
		t.Errorf("%d texts, found %+v", report.CheckedFiles, report.Findings)
	}
}

// A finding about a line of the base stops no file, whatever the line ends of the base.
func TestFindingsOfTheBase(t *testing.T) {
	s, err := NewSchedule(uaident.Default(), Spec{Rules: []Rule{disallow("GPTBot")}})
	if err != nil {
		t.Fatal(err)
	}
	plan := s.FindPeriod("a.test", epoch).FilePlan()
	for _, end := range []string{"\n", "\r\n", "\r"} {
		base := []byte(strings.ReplaceAll("User-agent: *\nDisallow: /a\nDisallow /b\nDisallow: /c\n", "\n", end))
		text, err := plan.Compose(base, "a.test")
		if err == nil {
			err = GateWarnings.Check(plan, base, text, "a.test")
		}
		if err != nil {
			t.Errorf("with lines that end in %q: %v", end, err)
		}
	}
}
