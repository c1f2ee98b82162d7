package directive

import (
	"strconv"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRate sends requests at too high a rate as a crawler and as other clients. The
// site acts on the rate with its own handlers.
func TestRate(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nCrawl-delay: 30\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow:\n", nil)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard {
			rate
		}
		header >X-Rate "{http.robots_guard.rate} {http.robots_guard.rate.delay} {http.robots_guard.rate.line}"
		@toofast robots_rate over
		route {
			respond @toofast "Too many requests." 429
			reverse_proxy $ORIGIN
		}
	}`, "$ORIGIN", o.Address())
	s.Warm("/")
	// At a Crawl-delay of 30 seconds a window of five minutes allows 10 requests. 15
	// requests are 1.5 times as many.
	got := func(userAgent, path string, times int) (rates string, refused int) {
		t.Helper()
		seen := make(map[string]bool)
		for range times {
			a := harness.Get(t, s.URL(path), userAgent)
			if rate := strings.TrimSpace(a.Header.Get("X-Rate")); !seen[rate] {
				seen[rate] = true
				rates += rate + ";"
			}
			if a.Status == 429 {
				refused++
			}
		}
		return rates, refused
	}
	for _, tc := range []struct {
		name, userAgent, path string
		rates                 string
		refused               int
	}{
		{"a crawler", "CCBot/2.0 (https://commoncrawl.org/faq/)", "/page", "within 30 2;over 30 2;", 10},
		{"images", "CCBot/2.0 (https://commoncrawl.org/faq/)", "/a.png", ";", 0},
		{"robots.txt", "CCBot/2.0 (https://commoncrawl.org/faq/)", "/robots.txt", ";", 0},
		{"a crawler without a Crawl-delay", harness.GPTBot, "/page", ";", 0},
		{"a browser", harness.Firefox, "/page", ";", 0},
	} {
		if rates, refused := got(tc.userAgent, tc.path, 25); rates != tc.rates || refused != tc.refused {
			t.Errorf("%s: rates %q, %d refused, want %q and %d", tc.name, rates, refused, tc.rates, tc.refused)
		}
	}
	m := s.Metrics()
	for name, want := range map[string]float64{
		`caddy_robots_guard_rate_requests_total{class="ai_training",rate="within"}`: 15,
		`caddy_robots_guard_rate_requests_total{class="ai_training",rate="over"}`:   10,
		`caddy_robots_guard_crawl_delay_seconds{host="a.test"}`:                     30,
	} {
		if got := m.Sum(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestRateLimit applies a limit of the site to a crawler and checks Retry-After.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard {
			rate {
				limit GPTBot 3/1m
			}
		}
		@toofast robots_rate over
		route {
			header @toofast Retry-After {http.robots_guard.rate.wait}
			respond @toofast "Too many requests." 429
			reverse_proxy $ORIGIN
		}
	}`, "$ORIGIN", o.Address())
	s.Warm("/")
	for i := range 6 {
		a := harness.Get(t, s.URL("/page"), harness.GPTBot)
		wait, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		if over := i >= 3; over != (a.Status == 429) || over != (wait > 0 && wait <= 20) {
			t.Errorf("request %d: status %d, Retry-After %q", i+1, a.Status, a.Header.Get("Retry-After"))
		}
	}
	for _, path := range []string{"/robots.txt", "/sitemap.xml", "/.well-known/x"} {
		if a := harness.Get(t, s.URL(path), harness.GPTBot); a.Status == 429 {
			t.Errorf("%s gets 429", path)
		}
	}
	if a := harness.Get(t, s.URL("/page"), harness.Bingbot); a.Status == 429 {
		t.Error("another crawler gets 429")
	}
	config := harness.Caddyfile(t, "http://a.test {\n\trobots_guard {\n\t\trate enforce {\n\t\t\tlimit GPTBot 3/1m\n\t\t}\n\t}\n}\n")
	said, _, _ := harness.Command(t, "User-agent: *\nCrawl-delay: 5\n", "robots-guard", "explain", "--robots", "-", "--config", config, "--user-agent", harness.GPTBot, "http://a.test/page")
	if want := "rate enforce: one request in 5 seconds by Crawl-delay, limit GPTBot 3/1m: requests above the limit get 429\n"; !strings.Contains(said, want) {
		t.Errorf("explain lacks %q:\n%s", want, said)
	}
}
