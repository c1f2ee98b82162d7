package directive

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRateEnforce sends requests at too high a rate as a crawler and as other clients.
// The error routes of the site would serve the page itself. A reload keeps the counts.
func TestRateEnforce(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nCrawl-delay: 30\nDisallow: /private/\nSitemap: https://a.test/list\n", nil)
	s := harness.ServeReloadable(t, o)
	config := strings.Replace(s.Named("rate", "handle_errors {\n\t\treverse_proxy "+o.Address()+"\n\t}"), "robots_guard enforce", `robots_guard enforce {
		rate enforce {
			limit GPTBot 3/1m
		}
	}`, 1)
	s.MustLoad(config)
	s.Warm("/")
	const ccbot = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	refused := func(userAgent, path string, times int) (n int, last http.Header) {
		t.Helper()
		for range times {
			if a := harness.Get(t, s.URL(path), userAgent); a.Status == http.StatusTooManyRequests {
				n, last = n+1, a.Header
			}
		}
		return n, last
	}
	for _, tc := range []struct {
		name, userAgent, path string
		refused               int // of 25 requests
	}{
		// At a Crawl-delay of 30 seconds a window of five minutes allows 10 requests.
		// 15 requests are 1.5 times as many.
		{"Crawl-delay", ccbot, "/page", 10},
		{"limit of the site", harness.GPTBot, "/page", 22},
		{"images", ccbot, "/a.png", 0},
		{"robots.txt", ccbot, "/robots.txt", 0},
		{"the sitemap in robots.txt", ccbot, "/list", 0},
		{"a sitemap", harness.GPTBot, "/sitemap.xml", 0},
		{"a well-known URI", harness.GPTBot, "/.well-known/x", 0},
		{"a search engine", harness.Bingbot, "/page", 0},
		{"a crawler that ignores Crawl-delay", "Amazonbot/0.1", "/page", 0},
		{"a feed reader", "Feedly/1.0", "/page", 0},
		{"a browser", harness.Firefox, "/page", 0},
	} {
		n, last := refused(tc.userAgent, tc.path, 25)
		if n != tc.refused {
			t.Errorf("%s: %d responses with 429, want %d", tc.name, n, tc.refused)
		}
		if n > 0 {
			checkSlowed(t, last)
		}
	}
	s.MustLoad(strings.Replace(config, "X-Config", "X-Other", 1))
	if n, _ := refused(ccbot, "/page", 5); n != 5 {
		t.Errorf("after a reload: 429 for %d of 5", n)
	}
	m := s.Metrics()
	for name, want := range map[string]float64{
		`caddy_robots_guard_rate_requests_total{class="ai_training",rate="slowed"}`:                                                                 10 + 22 + 5,
		`caddy_robots_guard_rate_requests_total{class="search",rate="slowed"}`:                                                                      0,
		`caddy_robots_guard_requests_total{action="slowed",class="ai_training",crawler="CCBot",host="a.test",identity="claimed",verdict="allowed"}`: 15,
	} {
		if got := m.Sum(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// checkSlowed checks the header fields of a response with 429.
func checkSlowed(t *testing.T, h http.Header) {
	t.Helper()
	if h.Get("Cache-Control") != "no-store" || !strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		t.Errorf("%v", h)
	}
	after, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil {
		t.Errorf("Retry-After: %v", err)
	}
	if _, err := httpsfv.UnmarshalList(h.Values("RateLimit-Policy")); err != nil {
		t.Errorf("RateLimit-Policy %q: %v", h.Values("RateLimit-Policy"), err)
	}
	list, err := httpsfv.UnmarshalList(h.Values("RateLimit"))
	if err != nil || len(list) != 1 {
		t.Fatalf("RateLimit %q: %v", h.Values("RateLimit"), err)
	}
	reset, _ := list[0].(httpsfv.Item).Params.Get("t")
	if seconds, ok := reset.(int64); !ok || int64(after) < seconds || seconds < 1 || after > 66 {
		t.Errorf("Retry-After is %d, but RateLimit has %v", after, reset)
	}
}
