package command

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// adminAnswering starts an admin API that gives the same response to every request. It returns the
// address, and a function for the method, target and body of all requests.
func adminAnswering(t *testing.T, answer string) (address string, requests func() string) {
	t.Helper()
	var asked []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(api.Close)
	return strings.TrimPrefix(api.URL, "http://"), func() string { return strings.Join(asked, ", ") }
}

// TestStatusRequests checks what each flag requests from the admin API.
func TestStatusRequests(t *testing.T) {
	for _, tc := range []struct {
		name, answer string
		args         []string
		want         string
	}{
		{"all sites", `{}`, nil, "GET /robots_guard/status"},
		{"one site", `{}`, []string{"shop.test"}, "GET /robots_guard/status?site=shop.test"},
		{"one site as a URL with a final slash", `{}`, []string{"https://shop.test/"}, "GET /robots_guard/status?site=https%3A%2F%2Fshop.test"},
		{"the top crawlers", `{}`, []string{"--top"}, "GET /robots_guard/crawlers, GET /robots_guard/alerts"},
		{"the top crawlers of a site", `{}`, []string{"--top", "shop.test"}, "GET /robots_guard/crawlers?site=shop.test, GET /robots_guard/alerts"},
		{"a fetch", `{"refresh": {"outcome": "unchanged"}}`, []string{"--refresh", "https://shop.test"}, "POST /robots_guard/policies/https:/shop.test/refresh, GET /robots_guard/alerts"},
		{"a fetch with a final slash", `{"refresh": {"outcome": "unchanged"}}`, []string{"--refresh", "https://shop.test/"}, "POST /robots_guard/policies/https:/shop.test/refresh, GET /robots_guard/alerts"},
		{"the end of the grace", `{}`, []string{"--end-grace", "shop.test"}, "POST /robots_guard/policies/shop.test/end-grace"},
		{"a test message", `{"receivers": [{"receiver": "slack", "sent": true}]}`, []string{"--test-notify"}, "POST /robots_guard/alerts/test"},
		{"the end of an acknowledgement", `{"severity": "warning"}`, []string{"--undo", "x-1"}, "DELETE /robots_guard/alerts/x-1/acknowledge"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			address, last := adminAnswering(t, tc.answer)
			output, err := execute(t.Context(), Config{}, append([]string{"status", "--address", address}, tc.args...)...)
			if err != nil || last() != tc.want {
				t.Errorf("requested %q, want %q; %v: %s", last(), tc.want, err, output)
			}
		})
	}
	address, last := adminAnswering(t, `{"state": "acknowledged", "title": "gone", "id": "x-1", "acknowledged": {"by": "ann", "note": "known"}}`)
	output, err := execute(t.Context(), Config{}, "status", "--address", address, "--acknowledge", "x-1", "--note", "known")
	if err != nil || !strings.HasPrefix(last(), `POST /robots_guard/alerts/x-1/acknowledge {"note":"known"`) || output != "acknowledged: gone (x-1), by ann: known\n" {
		t.Errorf("requested %q: %v: %s", last(), err, output)
	}
}

// TestStatusMistakes checks contradictions and what is missing.
func TestStatusMistakes(t *testing.T) {
	for args, says := range map[string]string{
		"status --note x":                       "--note needs --acknowledge",
		"status --acknowledge a-1 --undo a-1":   "cannot be used together",
		"status --refresh --top":                "cannot be used together",
		"status --end-grace":                    "--end-grace needs a site",
		"status --test-notify a.test":           "take no site",
		"status a.test b.test":                  "takes at most 1 argument",
		"status --address 127.0.0.1:1 --undo x": "no server responds",
		"status --address localhost":            `--address "localhost" is not an address, for example localhost:2019`,
		"status --address ::1":                  "is not an address, for example localhost:2019 or [::1]:2019",
		"status --address unix//nowhere":        "no server responds",
	} {
		if output, err := execute(t.Context(), Config{}, strings.Fields(args)...); err == nil || errors.Is(err, ErrFindings) || !strings.Contains(output, says) {
			t.Errorf("%s: %v: %s", args, err, output)
		}
	}
	address, _ := adminAnswering(t, `{"receivers": []}`)
	if output, err := execute(t.Context(), Config{}, "status", "--test-notify", "--address", address); err == nil || !strings.Contains(output, "add notify <url>") {
		t.Errorf("without a receiver: %v: %s", err, output)
	}
}

// TestStatus checks the text and the exit status for sites, alerts and files on trial.
func TestStatus(t *testing.T) {
	var listed alert.List
	list, err := os.ReadFile(filepath.Join("..", "alert", "testdata", "alerts.json"))
	if err == nil {
		err = json.Unmarshal(list, &listed)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	ok := report.SiteStatus{Site: "ok.test", Mode: "enforce", Robots: report.RobotsHealth{State: report.OK, Authority: "https://ok.test", Status: 200, RuleCount: 12, Version: "0a1b2c", LastFetched: at}}
	for _, tc := range []struct {
		name   string
		status admin.Status
		args   []string
		want   []string // in this order
		err    error
	}{
		{"no site", admin.Status{}, nil, []string{"no site of this server has a robots_guard", "no alert is open"}, nil},
		{"a site without problems", admin.Status{Sites: []report.SiteStatus{ok}}, nil, []string{"SITE MODE ROBOTS.TXT OF STATUS RULES NOTE ok.test enforce https://ok.test 200 12 - no alert is open"}, nil},
		{"its details", admin.Status{Sites: []report.SiteStatus{ok}}, []string{"ok.test"}, []string{"ok.test enforce", "version: 0a1b2c last fetch: 2026-11-21 14:00 UTC"}, nil},
		{"sites with problems", admin.Status{Sites: []report.SiteStatus{
			{Site: "new.test", Mode: "monitor", Robots: report.RobotsHealth{State: report.Unread}},
			{Site: "open.test", Mode: "enforce", Robots: report.RobotsHealth{State: report.Unprotected, Authority: "https://open.test", Status: 404,
				ProtectionProblem: &report.ProtectionProblem{Detail: "the answer is status 404", Remedy: "serve a robots.txt"}}},
			{Site: "down.test", Mode: "enforce", Robots: report.RobotsHealth{State: report.LastGood, Error: "the server answers status 502 Bad Gateway", LastFetched: at, Status: 200, RuleCount: 1}},
			{Site: "changed.test", Mode: "enforce", Robots: report.RobotsHealth{State: report.OK, Status: 200, RuleCount: 1, TakesEffect: time.Now().Add(3 * time.Hour), Findings: report.FindingCounts{Warnings: 2}}},
		}}, nil, []string{
			"new.test monitor - - - not fetched yet", "open.test enforce https://open.test 404 0 nothing is protected: the answer is status 404; serve a robots.txt",
			"down.test enforce - 200 1 the server answers status 502 Bad Gateway; the copy from 2026-11-21 14:00 UTC is in use",
			"changed.test enforce - 200 1 new rules take effect in 3h (", "findings of lint: 2",
		}, nil},
		{"alerts", admin.Status{List: listed}, nil, []string{
			"critical: Googlebot is blocked at example.com (search_blocked-", "since 2026-11-21 14:17 UTC", "only_log verified Googlebot", "curl -i https://shop.example.com/robots.txt", "acknowledged: ", "by ann: a partner",
		}, ErrFindings},
		{"a trial that forbids a search engine", admin.Status{
			TrialFiles: []report.TrialFile{{Source: "/next.txt", Version: "1"}},
			Trials: []report.Trial{{
				Site: "a.test", Source: "/next.txt", Since: at, VerdictDifferences: report.VerdictDifferences{Requests: 3, NewlyForbidden: 1}, Search: report.VerdictDifferences{Requests: 1, NewlyForbidden: 1},
				Crawlers: []report.CrawlerTrialEffect{{Token: "bingbot", Class: "search", Identity: "claimed", Pages: []report.ChangedPage{
					{Difference: "newly_forbidden", Path: "/shop/1", Estimate: report.Estimate{Count: 1}, RuleOnTrial: report.TrialRule{Rule: "Disallow: /shop", Line: 2}},
				}}},
			}},
		}, nil, []string{
			"on trial at a.test: /next.txt since 2026-11-21 14:00 UTC requests judged by both: 3, newly disallowed 1, newly allowed 0 search engines: requests judged by both: 1, newly disallowed 1",
			"bingbot search claimed disallowed 1 /shop/1 on trial: line 2, Disallow: /shop; in force: no rule",
		}, ErrFindings},
		{"a trial that cannot begin", admin.Status{TrialFiles: []report.TrialFile{{Source: "/next.txt", Error: "no such file"}}}, nil, []string{"not on trial: /next.txt: no such file"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer, err := json.Marshal(tc.status)
			if err != nil {
				t.Fatal(err)
			}
			address, _ := adminAnswering(t, string(answer))
			output, err := execute(t.Context(), Config{}, append([]string{"status", "--address", address}, tc.args...)...)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			rest := strings.Join(strings.Fields(output), " ")
			for _, want := range tc.want {
				var found bool
				if _, rest, found = strings.Cut(rest, want); !found {
					t.Fatalf("no %q where it belongs in\n%s", want, output)
				}
			}
			output, _ = execute(t.Context(), Config{}, append([]string{"status", "--json", "--address", address}, tc.args...)...)
			if got := compactJSON(t, output); got != string(answer) {
				t.Errorf("--json prints\n%s\nwant\n%s", got, answer)
			}
		})
	}
}

// TestStatusTop prints the crawlers with violations, and leaves out others.
func TestStatusTop(t *testing.T) {
	address, _ := adminAnswering(t, `{"crawlers": [
		{"token": "GPTBot", "class": "ai_training", "disallowed": 7, "violations_blocked": 5, "violating_since": "2026-11-20T10:00:00Z",
			"top_path": {"site": "a.test", "path": "/private/x", "rule": "Disallow: /private/", "line": 3}},
		{"token": "Bingbot", "class": "search", "disallowed": 0}]}`)
	output, err := execute(t.Context(), Config{}, "status", "--top", "--address", address)
	if plain := strings.Join(strings.Fields(output), " "); err != nil || !strings.Contains(plain, "GPTBot ai_training 7 5 2026-11-20 10:00 UTC a.test/private/x Disallow: /private/ (line 3)") || strings.Contains(plain, "Bingbot") {
		t.Errorf("%v: %s", err, output)
	}
	address, _ = adminAnswering(t, `{"crawlers": [], "alerts": [{"state": "open", "severity": "critical"}]}`)
	if _, err := execute(t.Context(), Config{}, "status", "--top", "--address", address); !errors.Is(err, ErrFindings) {
		t.Errorf("with an open critical alert: %v", err)
	}
	address, _ = adminAnswering(t, `{"crawlers": []}`)
	if output, err := execute(t.Context(), Config{}, "status", "--top", "--address", address); err != nil || output != "no crawler broke a rule in the last 24 hours\n" {
		t.Errorf("without violations: %v: %s", err, output)
	}
}

// TestCriticalAlertOfSite checks the exit status for a critical alert of the given site and of others.
func TestCriticalAlertOfSite(t *testing.T) {
	for _, tc := range []struct {
		alertSite, site string
		findings        bool
	}{
		{"shop.test", "shop.test", true},
		{"shop.test", "https://shop.test:8443", true},
		{"shop.test", "https://shop.test/", true},
		{"shop.test", "SHOP.test:8443", true},
		{"*.shop.test", "a.shop.test", true},
		{"*.shop.test", "*.shop.test", true},
		{"", "shop.test", true},
		{"a.test", "shop.test", false},
		{"_other", "shop.test", false},
	} {
		address, _ := adminAnswering(t, `{"crawlers": [], "alerts": [{"state": "open", "severity": "critical", "site": "`+tc.alertSite+`"}]}`)
		if _, err := execute(t.Context(), Config{}, "status", tc.site, "--top", "--address", address); errors.Is(err, ErrFindings) != tc.findings {
			t.Errorf("an alert of %q, status %s: %v", tc.alertSite, tc.site, err)
		}
	}
}

// TestNoAdminAPI connects to something that does not answer with the JSON of the admin API.
func TestNoAdminAPI(t *testing.T) {
	for _, answer := range []string{"<html>", "[1]", `{"policies": 5, "managed": 5, "registry": 5, "proposals": 5, "trials": 5, "alerts": 5, "changes": 5, "sites": 5, "crawlers": 5}`, ""} {
		address, _ := adminAnswering(t, answer)
		for _, args := range [][]string{{"status"}, {"status", "--top"}, {"managed", "show"}, {"managed", "changes"}, {"registry", "status"}, {"registry", "propose"}} {
			if output, err := execute(t.Context(), Config{}, append(args, "--address", address)...); err == nil || !strings.Contains(output, "the server at "+address+" is not the admin API of Caddy: ") {
				t.Errorf("%q answered by %q: %v, %q", args, answer, err, output)
			}
		}
	}
}

// TestStatusRefresh checks the result for each site, in words and as the exit status.
func TestStatusRefresh(t *testing.T) {
	answers := map[string]string{
		"a.test": `{"authority": "https://a.test", "status": 200, "rules": 3, "refresh": {"outcome": "changed", "before": "12", "rules_before": 2}}`,
		"b.test": `{"authority": "https://b.test", "status": 200, "rules": 1, "refresh": {"outcome": "unchanged", "before": "34", "rules_before": 1}}`,
		"c.test": `{"authority": "https://c.test", "status": 200, "rules": 1, "last_read": "2026-11-20T10:00:00Z", "refresh": {"outcome": "failed", "why": "the server answers status 503"}}`,
		"d.test": `{"authority": "https://d.test", "refresh": {"outcome": "waiting", "why": "no crawler has come"}}`,
		"e.test": `{"authority": "https://e.test", "status": 200, "rules": 5, "refresh": {"outcome": "changed"}}`,
		"f.test": `{"authority": "https://f.test", "status": 404, "not_protecting": {"detail": "the answer is status 404", "cure": "serve a robots.txt"}, "refresh": {"outcome": "changed"}}`,
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"policies": [{"authority": "https://a.test", "segment": "named"}, {"authority": "https://c.test", "segment": "named"}, {"authority": "https://x.test", "segment": "invented"}]}`)
			return
		}
		host := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/robots_guard/policies/"), "/refresh")
		_, _ = io.WriteString(w, answers[strings.TrimPrefix(host, "https:/")])
	}))
	defer api.Close()
	for _, tc := range []struct {
		name string
		args []string
		want []string // rows
		err  error
	}{
		{"another file", []string{"a.test"}, []string{"https://a.test new version 200 3, were 2 -"}, nil},
		{"the same", []string{"b.test"}, []string{"https://b.test unchanged 200 1 -"}, nil},
		{"the first", []string{"e.test"}, []string{"https://e.test first version 200 5 -"}, nil},
		{"no file in enforce", []string{"f.test"}, []string{"https://f.test first version 404 0 nothing is protected: the answer is status 404; serve a robots.txt"}, ErrFindings},
		{"a failure", []string{"c.test"}, []string{"https://c.test failed 200 1 the server answers status 503; the last good copy is in use"}, ErrFindings},
		{"behind a proxy", []string{"d.test"}, []string{"https://d.test waiting 0 0 no crawler has come"}, ErrFindings},
		{"all that were fetched", nil, []string{"https://a.test new version", "https://c.test failed"}, ErrFindings},
		{"as JSON", []string{"--json", "b.test"}, []string{`"refresh": { "outcome": "unchanged"`}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			output, err := execute(t.Context(), Config{}, append([]string{"status", "--refresh", "--address", strings.TrimPrefix(api.URL, "http://")}, tc.args...)...)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			plain := strings.Join(strings.Fields(output), " ")
			for _, row := range tc.want {
				if !strings.Contains(plain, row) {
					t.Errorf("no %q in\n%s", row, output)
				}
			}
		})
	}
	address, _ := adminAnswering(t, `{"policies": []}`)
	if output, err := execute(t.Context(), Config{}, "status", "--refresh", "--address", address); err != nil || strings.TrimSpace(output) != nothingToRefresh {
		t.Errorf("without a fetched file: %v, %q", err, output)
	}
}
