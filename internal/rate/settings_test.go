package rate

import (
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

func TestCounts(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nSitemap: https://shop.example/all\n"))
	for _, tc := range []struct {
		method, path string
		pages, all   bool
	}{
		{http.MethodGet, "/", true, true},
		{http.MethodHead, "/a/b.html", true, true},
		{http.MethodPost, "/search", true, true},
		{http.MethodGet, "/report.pdf", true, true},
		{http.MethodGet, "/main.css", false, true},
		{http.MethodGet, "/photo.JPG", false, true},
		{http.MethodGet, "/font.woff2", false, true},
		{http.MethodGet, "/js", true, true},
		{http.MethodGet, "/robots.txt", false, false},
		{http.MethodGet, "/all", false, false},
		{http.MethodGet, "/sitemap.xml", false, false},
		{http.MethodGet, "/.well-known/security.txt", false, false},
		{http.MethodGet, "/.well-known/../page", true, true},
		{http.MethodGet, `/.well-known/x\page`, true, true},
		{http.MethodOptions, "/", false, false},
	} {
		for all, want := range map[bool]bool{false: tc.pages, true: tc.all} {
			if got := (&Settings{CountPageResources: all}).CountsRequest(tc.method, tc.path, robots); got != want {
				t.Errorf("%s %s, all %v: %v, want %v", tc.method, tc.path, all, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { new(Settings).CountsRequest(http.MethodGet, "/a/b.html", robots) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSettingsRules checks the rules and the mode for a client.
func TestSettingsRules(t *testing.T) {
	limits := []Limit{{Client: "Googlebot", Rule: Rule{Interval: time.Second, Burst: 2}}}
	for _, tc := range []struct {
		name, userAgent string
		identity        verify.State
		change          func(*Settings)
		delay           time.Duration
		limit           *Limit
		want            Rules
	}{
		{"no delay and no limit", "CCBot/2.0", verify.Claimed, nil, 0, nil, Rules{Mode: Enforce}},
		{"a delay", "CCBot/2.0", verify.Claimed, nil, 10 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 10 * time.Second}, Mode: Enforce}},
		{"a delay longer than max_delay", "CCBot/2.0", verify.Claimed, nil, time.Hour, nil, Rules{CrawlDelay: Rule{Interval: 30 * time.Second}, Mode: Enforce}},
		{"a delay longer than the operator documents", "SemrushBot/7", verify.Claimed, nil, 20 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 10 * time.Second}, Mode: Enforce}},
		{"the same delay for a spoofed client", "SemrushBot/7", verify.Spoofed, nil, 20 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 20 * time.Second}, Mode: Enforce}},
		{"observe", "CCBot/2.0", verify.Claimed, func(s *Settings) { s.Enforce = false }, 10 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 10 * time.Second}}},
		{"ignore_crawl_delay", "CCBot/2.0", verify.Claimed, func(s *Settings) { s.IgnoreCrawlDelay = true }, 10 * time.Second, nil, Rules{Mode: Enforce}},
		{"a crawler that ignores Crawl-delay", "Amazonbot/0.1", verify.Claimed, nil, 10 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 10 * time.Second}, IgnoresCrawlDelay: true, Mode: Enforce}},
		{"a search engine", "bingbot/2.0", verify.Verified, nil, 10 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 10 * time.Second}}},
		{"a search engine, enforced", "bingbot/2.0", verify.Verified, func(s *Settings) { s.SlowSearch = true }, 10 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 10 * time.Second}, Mode: SlowSearch}},
		{"a spoofed client with the name of a search engine", "bingbot/2.0", verify.Spoofed, nil, 10 * time.Second, nil, Rules{CrawlDelay: Rule{Interval: 10 * time.Second}, Mode: Enforce}},
		{"a limit", "Googlebot/2.1", verify.Claimed, func(s *Settings) { s.SlowSearch = true }, 0, &limits[0], Rules{ConfiguredLimit: limits[0].Rule, IgnoresCrawlDelay: true, Mode: SlowSearch}},
	} {
		s := DefaultSettings
		s.Enforce = true
		if tc.change != nil {
			tc.change(&s)
		}
		tc.want.Tolerance, tc.want.Window = 1.5, 5*time.Minute
		if !s.IgnoreCrawlDelay {
			tc.want.CrawlDelay.Burst = 10
		}
		if got := s.RulesForClient(new(uaident.Identify(tc.userAgent)), tc.identity, tc.delay, tc.limit); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// TestQuota checks that quotas equal their interval, in whole seconds.
func TestQuota(t *testing.T) {
	for interval, want := range map[time.Duration]struct {
		requests int
		window   time.Duration
	}{
		10 * time.Second:        {1, 10 * time.Second},
		1500 * time.Millisecond: {2, 3 * time.Second},
		300 * time.Millisecond:  {10, 3 * time.Second},
		time.Second / 3:         {3, time.Second},
		7777777777:              {1, 8 * time.Second},
	} {
		if n, window := QuotaForInterval(interval); n != want.requests || window != want.window {
			t.Errorf("%v: %d in %v, want %+v", interval, n, window, want)
		}
	}
}

func TestLimitString(t *testing.T) {
	for per, want := range map[time.Duration]string{time.Minute: "seo 30/1m", time.Hour: "seo 30/1h", 90 * time.Second: "seo 30/1m30s", time.Second: "seo 30/1s"} {
		if got := (&Limit{Client: "seo", Requests: 30, Per: per}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
