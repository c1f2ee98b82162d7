package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// faulty is a robots.txt with mistakes. The parser finds only some of them. lint finds
// all.
const faulty = `User-agent: GTPBot
Disallow: /
User-agent: *
Disalow: /private/
Disallow: /*.html$x
Crawl-delay: soon
Sitemap: https://elsewhere.example/sitemap.xml
`

// finding is a finding as lint, the policies and the dashboard return it.
type finding struct {
	Code, Severity, Message string
	Line, Column            int
}

// TestFindingsAreTheSame checks that lint, the policies and the dashboard return the
// same findings.
func TestFindingsAreTheSame(t *testing.T) {
	t.Parallel()
	o := oversee(t)
	o.robots.Store(faulty)
	var policies struct {
		Findings    int
		FindingList []finding `json:"finding_list"`
	}
	o.ask(http.MethodPost, "/robots_guard/policies/"+o.site+"/refresh", http.StatusOK, &policies)
	var view struct {
		Findings []finding
		Health   struct {
			Findings struct{ Errors, Warnings, Infos int }
		}
	}
	o.ask(http.MethodGet, "/robots_guard/robots?site="+url.QueryEscape("a.test"), http.StatusOK, &view)
	out, problem, code := harness.Command(t, faulty, "robots-guard", "lint", "--json", "--site", "http://"+o.site, "-")
	var lint struct {
		Files []struct{ Findings []finding }
	}
	if err := json.Unmarshal([]byte(out), &lint); err != nil || code == 2 || len(lint.Files) != 1 {
		t.Fatalf("exit status %d, %v: %s%s", code, err, out, problem)
	}
	want := lint.Files[0].Findings
	codes := make(map[string]bool)
	for _, f := range want {
		codes[f.Code] = true
	}
	if !codes["misspelt-crawler"] || !codes["sitemap-other-host"] {
		t.Errorf("lint finds %+v", want)
	}
	if !reflect.DeepEqual(policies.FindingList, want) || policies.Findings != len(want) {
		t.Errorf("policies: %+v\nlint: %+v", policies, want)
	}
	if n := view.Health.Findings; !reflect.DeepEqual(view.Findings, want) || n.Errors+n.Warnings+n.Infos != len(want) {
		t.Errorf("the dashboard: %+v\nlint: %+v", view, want)
	}
	if lines := o.Await("robots.txt has findings", 1); lines[len(lines)-1]["code"] == "" {
		t.Errorf("%v", lines)
	}
}
