package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/diff"
	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestJSONPage looks up every field that a command prints in docs/json.md, in
// the section of the command.
func TestJSONPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), "\r\n", "\n")

	var linted strings.Builder
	large := "User-agent: *\nDissallow: /x\n" + strings.Repeat("Disallow: /a\n", policy.MaxSize/12)
	if err := lint.Write(&linted, "json", []*lint.Report{lint.Check("x", []byte(large+"Crawl-delay: 1\n"), lint.Options{})}); err != nil {
		t.Fatal(err)
	}
	explained, err := json.Marshal(explain.Explanation{
		Robots: explain.Robots{Version: "x", Note: "x"},
		Client: explain.Client{
			Words: []uaident.SeenWord{{Notes: []string{"x"}}}, Operator: "x", Source: "x", Chain: []explain.Try{{}},
		},
		Group: new(explain.Group), Forms: []explain.Form{{}}, Matches: []explain.Match{{}}, Readings: []explain.Reading{{}}, Handler: &explain.Handler{Site: "x", Note: "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	different, err := json.Marshal(difference{
		Result: &diff.Result{Changes: []diff.Change{{Crawlers: []diff.Crawlers{{}}, Blocked: []diff.Example{{}}, Opened: []diff.Example{{}}}}},
		Log: &replay.EditReport{
			Examples: []replay.Example{{}}, Logs: []*replay.LogReport{{Compression: "x", Empty: true}}, Hosts: []replay.HostReport{{}},
			Crawlers: []replay.ChangedCrawler{{}}, Rules: []replay.ChangedByRule{{Crawlers: []replay.RuleCrawlers{{}}}},
			Paths: []replay.ChangedPath{{}}, Incomplete: "x",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var nothing time.Time
	listed, err := json.Marshal([]any{admin.PolicyList{Next: "x"}, admin.PolicyReport{
		PolicySummary: admin.PolicySummary{
			LastMeaning: "x", LastError: "x", FailingSince: &nothing, Version: "x",
			FirstRead: &nothing, LastRead: &nothing, NextRefresh: &nothing, Expires: &nothing,
		},
		FindingList: []admin.PolicyFinding{{}}, VersionList: []admin.PolicyVersion{{Until: &nothing}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for command, output := range map[string]string{"lint": linted.String(), "explain": string(explained), "diff": string(different), "policies": string(listed)} {
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
