package directive

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestUsageEnforce asks for a page that the robots.txt lets everybody fetch and states
// train-ai=n about: a crawler that only trains is refused it once it has read that, and
// nobody else ever is. Logs, metrics and the admin API tell it by its own verdict.
func TestUsageEnforce(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y\nDisallow: /private/\nSitemap: http://a.test/list\n", nil)
	admin := "127.0.0.1:" + harness.FreePort(t)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			usage enforce
		}
		header >X-Verdict "{http.robots_guard.verdict} {http.robots_guard.action} {http.robots_guard.line}"
		reverse_proxy $ORIGIN
	}
	http://b.test:$PORT {
		robots_guard {
			usage enforce
		}
		header >X-Verdict "{http.robots_guard.verdict} {http.robots_guard.action} {http.robots_guard.line}"
		reverse_proxy $ORIGIN
	}`, "admin off", "admin "+admin, "$ORIGIN", o.Address())
	const claude = "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"
	crawlers := []string{claude, harness.GPTBot, harness.Googlebot, harness.Bingbot, "Mozilla/5.0 (compatible; Applebot/0.1)", "CCBot/2.0", "TrainerBot/1.0", harness.Firefox}
	ask := func(url, userAgent string) harness.Answer { return harness.Get(t, s.URL(url), userAgent) }
	s.Warm("/page")
	for _, userAgent := range crawlers {
		if a := ask("/page", userAgent); a.Status != http.StatusOK {
			t.Errorf("%s is answered %d before it has read anything", userAgent, a.Status)
		}
	}
	for _, userAgent := range crawlers {
		for _, url := range []string{"/robots.txt", "http://b.test/robots.txt"} {
			if a := ask(url, userAgent); a.Status != http.StatusOK {
				t.Errorf("%s is answered %d for the robots.txt", userAgent, a.Status)
			}
		}
	}
	for _, userAgent := range crawlers[1:] {
		if a := ask("/page", userAgent); a.Status != http.StatusOK {
			t.Errorf("%s is answered %d after it has read the robots.txt", userAgent, a.Status)
		}
	}
	for _, tc := range []struct {
		url     string
		status  int
		verdict string
		body    string
	}{
		{"/page", 403, "against_preference blocked 2", "line:  Content-Usage: train-ai=n (line 2)\n"},
		{"/press/1", 200, "allowed none", ""},
		{"/private/1", 403, "disallowed blocked 4", "rule:  Disallow: /private/ (line 4)\n"},
		{"/robots.txt", 200, "allowed none", ""},
		{"/list", 200, "allowed none", ""},
		{"/sitemap.xml", 200, "allowed none", ""},
		{"http://b.test/page", 200, "against_preference logged 2", ""},
	} {
		a := ask(tc.url, claude)
		if got := a.Header.Get("X-Verdict"); a.Status != tc.status || got != tc.verdict || !strings.Contains(a.Body, tc.body) {
			t.Errorf("%s: %d %q, want %d %q and %q:\n%s", tc.url, a.Status, got, tc.status, tc.verdict, tc.body, a.Body)
		}
	}
	for i, line := range s.Await("request against a preference about use", 2)[:2] {
		action := []string{"blocked", "logged"}[i]
		if line["verdict"] != "against_preference" || line["action"] != action || line["rule"] != "Content-Usage: train-ai=n" || line["preferences"] != "train-ai=n" || line["robots_read"] != "current" {
			t.Errorf("the log says %v", line)
		}
	}
	if n := s.Metrics().Sum("caddy_robots_guard_requests_total", `verdict="against_preference"`, `crawler="ClaudeBot"`); n != 2 {
		t.Errorf("the metrics count %v", n)
	}
	r, err := http.Get("http://" + admin + "/robots_guard/crawlers")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), `"against_preference":2`) && !strings.Contains(string(body), `"against_preference": 2`) {
		t.Errorf("the admin API says %v %.2000s", err, body)
	}
}
