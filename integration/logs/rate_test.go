package logs

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestAuditRate audits the access log of a server that enforces rates. The counts of
// requests, of those over the limit and of those with 429 must match the server's
// counts. Responses of the guard must not count as responses of the site.
func TestAuditRate(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nCrawl-delay: 30\nDisallow: /private/\n"
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	files := harness.Files(t, map[string]string{"robots.txt": robots, "page.html": "a page"})
	site := `http://a.test:$PORT {
		log {
			output file ` + log + `
		}
		robots_guard enforce {
			rate enforce {
				limit GPTBot 3/1m
				limit seo 1000/1m burst 20
				search enforce
			}
		}
		root ` + files + `
		file_server
	}`
	s := harness.Serve(t, site)
	s.Warm("/page.html")
	ask := func(n int, userAgent, path string) {
		for range n {
			harness.Get(t, s.URL(path), userAgent)
		}
	}
	ask(25, "CCBot/2.0 (https://commoncrawl.org/faq/)", "/page.html")
	ask(25, harness.GPTBot, "/page.html")
	ask(25, "AhrefsBot/7.0", "/page.html")
	ask(60, harness.Bingbot, "/page.html")
	ask(25, "Amazonbot/0.1", "/page.html") // ignores Crawl-delay
	ask(5, "CCBot/2.0 (https://commoncrawl.org/faq/)", "/robots.txt")
	ask(5, "CCBot/2.0 (https://commoncrawl.org/faq/)", "/private/x")
	metrics := s.Metrics()
	s.Stop()
	out, stderr, code := harness.Command(t, "", "robots-guard", "audit", "--json", "--rate", "--robots", filepath.Join(files, "robots.txt"),
		"--config", harness.Caddyfile(t, strings.ReplaceAll(site, "$PORT", s.Port)), "--site", "a.test:"+s.Port, log)
	var report struct {
		Crawlers []struct {
			Token, Class string
			Rate         struct{ Requests, Over, Slowed float64 }
			Answers      struct{ Allowed, Forbidden map[string]float64 }
		}
		Findings []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code > 1 {
		t.Fatal(code, err, stderr)
	}
	counted := make(map[string][3]float64)
	answers, refused := make(map[string]float64), 0.0
	for _, c := range report.Crawlers {
		of := counted[c.Class]
		of[0], of[1], of[2] = of[0]+c.Rate.Requests, of[1]+c.Rate.Over, of[2]+c.Rate.Slowed
		counted[c.Class] = of
		for status, n := range c.Answers.Allowed {
			answers[c.Class+" "+status] += n
		}
		refused += c.Answers.Allowed["too_many"] + c.Answers.Forbidden["refused"]
	}
	states := func(class string, states ...string) (sum float64) {
		for _, state := range states {
			sum += metrics[fmt.Sprintf(`caddy_robots_guard_rate_requests_total{class="%s",rate="%s"}`, class, state)]
		}
		return sum
	}
	for class, got := range counted {
		want := [3]float64{states(class, "within", "over", "slowed"), states(class, "over", "slowed"), states(class, "slowed")}
		if got != want {
			t.Errorf("%s: counted, over the limit and 429 are %v, want the server's %v", class, got, want)
		}
		if want[2] == 0 {
			t.Errorf("%s: no request got 429", class)
		}
		if got, want := answers[class+" 2xx"], metrics[`caddy_robots_guard_answers_total{class="`+class+`",status="2xx"}`]; got != want {
			t.Errorf("%s: %v pages, want the server's %v", class, got, want)
		}
	}
	if len(counted) != 3 || refused > 0 || len(report.Findings) > 0 {
		t.Errorf("%d classes, %v responses of the guard count as the site's: %v", len(counted), refused, report.Findings)
	}
	if n := metrics.Sum(`caddy_robots_guard_answers_total`, `status="too_many"`); n > 0 {
		t.Errorf("the server counts %v responses with 429 of the site", n)
	}
}
