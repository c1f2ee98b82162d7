package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/diff"
	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/registryfile"
)

// TestEveryCommandPrintsJSON checks that each command has a flag for JSON and a section in
// docs/json.md.
func TestEveryCommandPrintsJSON(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	root := &cobra.Command{Use: "robots-guard"}
	New(Config{}).CobraFunc(root)
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		if cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", cmd.Name())
		}
		if !strings.Contains(string(page), "\n## "+cmd.Name()+"\n") {
			t.Errorf("docs/json.md has no section about %s", cmd.Name())
		}
	}
}

// TestJSONCharacters checks that JSON has the characters <, > and & unescaped.
func TestJSONCharacters(t *testing.T) {
	robots := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(robots, []byte("User-agent: *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const url = "/a?b=<c>&d"
	for _, format := range []string{"--json", "--brief"} { // one result, and one result for each URL
		args := []string{"explain", format, "--robots", robots, "--token", "x", url}
		if format == "--brief" {
			args = append(args, "--json")
		}
		out, err := execute(t.Context(), Config{}, args...)
		if err != nil || !strings.Contains(out, `"`+url+`"`) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
}

// TestJSONPage checks that docs/json.md has every field of each command in the command's section.
func TestJSONPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), "\r\n", "\n")

	large := "User-agent: *\nDissallow: /x\n" + strings.Repeat("Disallow: /a\n", policy.MaxSize/12)
	files := lint.FileReports{}
	files.Add(lint.Check("x", []byte(large+"Crawl-delay: 1\n"), lint.Options{}))
	linted, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	explained, err := json.Marshal(explain.Explanation{
		Token: "x", Robots: explain.Robots{Version: "x", Note: "x"},
		Client: explain.Client{
			ExaminedWords: []uaident.ExaminedWord{{Notes: []string{"x"}}}, Operator: "x", Source: "x", DelaySource: "x", Note: "x", GroupNames: []explain.GroupName{{}},
		},
		Delay: new(explain.Delay), Group: new(explain.Group), TargetForms: []explain.TargetForm{{}}, Matches: []explain.RuleMatch{{}}, Interpretations: []explain.Interpretation{{}}, Handler: &explain.Handler{Site: "x", Note: "x", Rate: &explain.Rate{CrawlDelaySeconds: 1, Limit: "x"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	different, err := json.Marshal(diff.Result{Changes: []diff.Change{{Crawlers: []diff.ClassCrawlers{{}}, NewlyDisallowed: []diff.ExampleURL{{}}, NewlyAllowed: []diff.ExampleURL{{}}}}})
	if err != nil {
		t.Fatal(err)
	}
	var nothing time.Time
	listed, err := json.Marshal([]any{admin.PolicyList{Next: "x"}, admin.PolicyReport{
		PolicySummary: admin.PolicySummary{
			LastOutcome: "x", LastError: "x", FailingSince: &nothing, Version: "x",
			FirstFetched: &nothing, LastFetched: &nothing, NextRefresh: &nothing, Expires: &nothing,
		},
		FindingList: []lint.Finding{{}}, VersionList: []admin.PolicyVersion{{GraceUntil: &nothing}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	alerts, err := json.Marshal(alert.List{MoreCount: 1, Alerts: []alert.Alert{{
		Site: "x", Crawler: "x", Until: time.Now(), RemedySnippet: "x", Acknowledged: &alert.Acknowledgement{User: "x", Note: "x"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	ruled, err := json.Marshal(map[string]any{"sites": []ManagedCheck{{CheckReport: managed.CheckReport{Findings: []managed.Finding{{Rules: []string{"x"}, Position: "x", Host: "x", From: time.Now()}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	full := report.ManagedSite{
		Version: "x", Since: time.Now(), NextChange: time.Now(), Refused: new(report.ManagedRefusal), Lists: []report.ManagedList{{Failure: "x"}},
		Base: report.ManagedBase{File: "x", FetchedAt: time.Now(), Status: 1, FailingSince: time.Now(), Failure: "x"},
	}
	shown, err := json.Marshal(map[string]any{"managed": []report.ManagedSite{full}, "more": 1, "detail": report.ManagedDetail{
		ManagedSite: full, Lines: []report.ManagedLine{{}}, ScheduledChanges: []report.ScheduledChange{{}}, Findings: []report.ManagedFinding{{Position: "x"}},
		Changes: []report.ManagedChange{{StopReason: "x", Until: time.Now(), Reason: "x", Ticket: "x", Decisions: []string{"x"}, FetchedBy: []string{"x"}, Reasons: []string{"x"}, Difference: []string{"x"}}},
		Rules:   []report.ManagedRule{{From: time.Now(), Until: time.Now(), Hosts: []string{"x"}, Reason: "x", Owner: "x", Ticket: "x", Position: "x"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	line := report.TrialRule{Rule: "x", Line: 1, Group: "x"}
	tried, err := json.Marshal(report.ShadowTrials{
		TrialFiles: []report.TrialFile{{Version: "x", FirstFetched: time.Now(), LastFetched: time.Now(), NextFetch: time.Now(), Error: "x"}},
		Trials: []report.Trial{{Authority: "x", InForce: "x", Crawlers: []report.CrawlerTrialEffect{{
			Operator: "x", Pages: []report.ChangedPage{{Host: "x", RuleInForce: line, RuleOnTrial: line}},
		}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	stated, err := json.Marshal(admin.Status{Sites: []report.SiteStatus{{Mode: "x", Robots: report.RobotsHealth{
		Authority: "x", Source: "x", Status: 1, Version: "x", FirstFetched: now, LastFetched: now, NextFetch: now, FailingSince: now, Error: "x", HeldUntil: now, TakesEffect: now,
		ProtectionProblem: new(report.ProtectionProblem),
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{"status": "[" + string(stated) + "," + string(tried) + "," + string(listed) + "," + string(alerts) + "]", "managed": "[" + string(ruled) + "," + string(shown) + "]", "lint": string(linted), "diff": string(different)}
	brief := explain.Verdict{ID: json.RawMessage("1"), URL: "x", Crawler: "x", Class: "x", Identity: "x", GroupLine: 1, TargetForm: "x", Preferences: "x", Licenses: []string{"x"}, Note: "x", Error: "x"}
	known := registryEntry{Operator: "x", Aliases: []string{"x"}, Fallback: []string{"x"}, RDNS: []string{"x"}, Ranges: []string{"x"}, WebBotAuth: "x", DelayMax: 1, DelaySource: "x", Source: "x"}
	for command, value := range map[string]any{
		"explain":  []any{json.RawMessage(explained), brief},
		"identify": []any{identityReport{Registry: &known}, verificationReport{Operator: "x", Steps: []verificationStep{{}}}},
		"registry": []any{
			map[string]any{"changes": []registryfile.Change{{Fields: []registryfile.FieldChange{{Before: "x", After: "x"}}}}},
			admin.Proposals{Proposals: []report.RegistryProposal{{Error: 1, LastRobotsFetch: time.Now(), LastWave: time.Now(), WaveNetworks: 1}}},
			admin.RegistryReport{Registry: &report.RegistryStatus{
				InUse: &report.RegistryVersion{Date: "x"}, ConfirmedAt: time.Now(), Failure: "x", FailingSince: time.Now(),
			}},
		},
	} {
		output, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		outputs[command] = string(output)
	}
	tested, err := json.Marshal(explain.CaseReport{Cases: []explain.CaseResult{{Case: explain.Case{Token: "x", UserAgent: "x"}, Note: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	outputs["test"] = string(tested)
	for command, output := range outputs {
		_, section, _ := strings.Cut(page, "\n## "+command+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		var value any
		if err := json.Unmarshal([]byte(output), &value); err != nil {
			t.Fatal(err)
		}
		for field := range fieldsOf(value) {
			if !strings.Contains(section, "`"+field+"`") {
				t.Errorf("docs/json.md does not say what `%s` of %s is", field, command)
			}
		}
	}
}

// fieldsOf collects the names of all fields in a JSON value.
func fieldsOf(value any) map[string]bool {
	found := make(map[string]bool)
	var visit func(any)
	visit = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, inner := range value {
				found[name] = true
				visit(inner)
			}
		case []any:
			for _, inner := range value {
				visit(inner)
			}
		}
	}
	visit(value)
	return found
}
