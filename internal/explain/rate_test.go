package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestRate checks the rate limit at a configured site and the action.
func TestRate(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nCrawl-delay: 40\nDisallow: /a\n\nUser-agent: FooBot\nDisallow: /a\nSitemap: https://a.test/list\n"))
	settings := func(change func(*rate.Settings)) *rate.Settings {
		s := rate.DefaultSettings
		s.Enforce = true
		for _, l := range []rate.Limit{
			{Client: "GPTBot", Requests: 30, Per: time.Minute, Concurrent: 2, Rule: rate.Rule{Interval: 2 * time.Second, Burst: 10}},
			{Client: "monitor", Concurrent: 4},
			{Client: "Amazonbot", Requests: 6, Per: time.Minute, Rule: rate.Rule{Interval: 10 * time.Second, Burst: 6}},
		} {
			l.Clients, _ = judge.ParseSelector(uaident.Default(), []string{l.Client}, false)
			s.Limits = append(s.Limits, l)
		}
		if change != nil {
			change(&s)
		}
		return &s
	}
	for _, tc := range []struct {
		name, userAgent, url string
		settings             *rate.Settings
		want                 string // empty for no line
	}{
		{"by the file", "CCBot/2.0", "/b", settings(nil), "rate enforce: one request in 30 seconds by Crawl-delay: requests above the limit get 429\n"},
		{"by both", "GPTBot/1.0", "/b", settings(nil), "rate enforce: one request in 30 seconds by Crawl-delay, limit GPTBot 30/1m concurrent 2: requests above the limit get 429\n"},
		{"at once alone", "UptimeRobot/2.0", "/b", settings(nil), "rate enforce: limit monitor concurrent 4: requests above the limit get 429\n"},
		{"observed", "CCBot/2.0", "/b", settings(func(s *rate.Settings) { s.Enforce = false }), "rate observe: one request in 30 seconds by Crawl-delay: requests above the limit are counted and pass\n"},
		{"a search engine", "bingbot/2.0", "/b", settings(nil), "rate enforce: one request in 30 seconds by Crawl-delay: requests above the limit are counted and pass: search engines get 429 only with search enforce\n"},
		{"a search engine, with search enforce", "bingbot/2.0", "/b", settings(func(s *rate.Settings) { s.SlowSearch = true }), "requests above the limit get 429, but at most one in twenty requests of the crawler in a day\n"},
		{"who does not read it", "Googlebot/2.1", "/b", settings(func(s *rate.Settings) { s.SlowSearch = true }), "rate enforce: one request in 30 seconds by Crawl-delay: requests above the limit are counted and pass: the crawler ignores Crawl-delay\n"},
		{"who does not read it, with a limit", "Amazonbot/0.1", "/b", settings(nil), "limit Amazonbot 6/1m: requests above the limit get 429; the crawler ignores Crawl-delay\n"},
		{"the file is left out", "CCBot/2.0", "/b", settings(func(s *rate.Settings) { s.IgnoreCrawlDelay = true }), ""},
		{"a group that asks for nothing", "FooBot/1.0", "/b", settings(nil), ""},
		{"robots.txt", "GPTBot/1.0", "/robots.txt", settings(nil), ""},
		{"a sitemap", "GPTBot/1.0", "/list?page=2", settings(nil), ""},
		{"an image", "GPTBot/1.0", "/a%2Epng", settings(nil), ""},
		{"a browser", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "/b", settings(nil), ""},
		{"no rate", "GPTBot/1.0", "/b", nil, ""},
	} {
		site := Site{Registry: uaident.Default(), HasGuard: true, Rate: tc.settings}
		e := site.Explain(RobotsFile{Robots: robots}, Request{UserAgent: tc.userAgent, URL: tc.url})
		var text strings.Builder
		e.WriteText(&text)
		if !strings.Contains(text.String(), tc.want) || (tc.want == "") != (e.Handler.Rate == nil) {
			t.Errorf("%s: %+v, no %q in\n%s", tc.name, e.Handler.Rate, tc.want, text.String())
		}
	}
}
