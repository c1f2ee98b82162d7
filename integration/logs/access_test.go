package logs

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestAccessLog checks the verdicts in the access log. The log must not contain the
// guard's own requests.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, strings.Replace(harness.RuledSite, "{\n", "{\n\tlog\n", 1), "$MODE", "enforce")
	s.Warm("/")
	harness.Get(t, s.URL("/private/x"), harness.Bingbot)
	harness.Get(t, s.URL("/page"), harness.GPTBot)
	harness.Get(t, s.URL("/private/y"), harness.Firefox)
	harness.Get(t, s.URL("/robots.txt"), harness.GPTBot)
	find := func(uri string) (found []map[string]any) {
		for _, line := range s.Lines("handled request") {
			if line["request"].(map[string]any)["uri"] == uri {
				found = append(found, line)
			}
		}
		return found
	}
	harness.Eventually(t, "the last request is logged", func() bool { return len(find("/robots.txt")) > 0 })
	if n := len(find("/robots.txt")); n != 1 {
		t.Errorf("%d lines about /robots.txt, want only the crawler's", n)
	}
	for uri, want := range map[string]map[string]any{
		"/private/x": {"verdict": "disallowed", "action": "blocked", "crawler": "bingbot", "class": "search", "rule": "Disallow: /private/", "line": 2.0},
		"/page":      {"verdict": "disallowed", "action": "blocked", "crawler": "GPTBot", "group": "GPTBot"},
		"/private/y": nil,
	} {
		lines := find(uri)
		if len(lines) != 1 {
			t.Fatalf("%d lines about %s", len(lines), uri)
		}
		got, _ := lines[0]["robots_guard"].(map[string]any)
		if want == nil && got != nil {
			t.Errorf("%s: the log has a verdict for a browser: %v", uri, got)
		}
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %v, want %v", uri, name, got[name], value)
			}
		}
		status := 200.0
		if want != nil {
			status = 403
		}
		if lines[0]["status"] != status {
			t.Errorf("%s: status %v", uri, lines[0]["status"])
		}
	}
}
