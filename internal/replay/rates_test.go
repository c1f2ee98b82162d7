package replay

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	ccbot      = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	foocrawler = "FooCrawler/1.0 (+https://foo.example/bot)"
	bingbot    = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
)

// visitsEvery makes the lines of a client that alternates between several networks.
func visitsEvery(every, long time.Duration, networks int, path, userAgent string) string {
	var b strings.Builder
	from := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	for at := time.Duration(0); at < long; at += every {
		fmt.Fprintf(&b, "192.0.%d.1 - - [%s] \"GET %s HTTP/1.1\" 200 5 \"-\" \"%s\"\n", 2+int(at/every)%networks, from.Add(at).Format("02/Jan/2006:15:04:05 -0700"), path, userAgent)
	}
	return b.String()
}

// TestRate measures the request rates of crawlers.
func TestRate(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /private/\n"
	// Two requests a second for ten minutes. The first 45 are within the limit, then one in ten
	// seconds.
	fast := visitsEvery(time.Second/2, 10*time.Minute, 1, "/", ccbot)
	for _, tc := range []struct {
		name, log string
		change    func(*Options)
		want      *RateReport
	}{
		{"as fast as asked", visitsEvery(10*time.Second, time.Hour, 1, "/", ccbot), nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "obeys", Requests: 360}},
		{"too fast", fast, nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "obeys", Requests: 1200, OverLimit: over(t, 1), WouldSlow: over(t, 1)}},
		{"too fast, from 200 networks", visitsEvery(time.Second/2, 10*time.Minute, 200, "/", ccbot), nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "obeys", Requests: 1200, OverLimit: over(t, 200), WouldSlow: over(t, 200)}},
		{"one that does not read it", visitsEvery(time.Second/2, 10*time.Minute, 1, "/", googlebot), nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "ignores", Requests: 1200, OverLimit: over(t, 1)}},
		{"a search engine", visitsEvery(time.Second/2, 10*time.Minute, 1, "/", bingbot), nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "obeys", Requests: 1200, OverLimit: over(t, 1)}},
		{"a search engine, with search enforce", visitsEvery(time.Second/2, 10*time.Minute, 1, "/", bingbot), func(o *Options) { o.Rate.SlowSearch = true }, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "obeys", Requests: 1200, OverLimit: over(t, 1), WouldSlow: 60}},
		{"a limit", visitsEvery(time.Minute, time.Hour, 1, "/", gptbot), limited("GPTBot", 2), &RateReport{CrawlDelaySupport: "undocumented", Limit: "GPTBot 2/2h", Requests: 60, OverLimit: 58, WouldSlow: 58}},
		{"a limit of the class", visitsEvery(time.Minute, time.Hour, 1, "/", gptbot), limited("ai_training", 2), &RateReport{CrawlDelaySupport: "undocumented", Limit: "ai_training 2/2h", Requests: 60, OverLimit: 58, WouldSlow: 58}},
		{"a limit of whom * is not meant for", visitsEvery(time.Minute, time.Hour, 1, "/", "UptimeRobot/2.0"), limited("monitor", 2), &RateReport{CrawlDelaySupport: "undocumented", Limit: "monitor 2/2h", Requests: 60, OverLimit: 58, WouldSlow: 58}},
		{"a limit with one of those under way", visitsEvery(time.Minute, time.Hour, 1, "/", gptbot), func(o *Options) { limited("GPTBot", 2)(o); o.Rate.Limits[0].Concurrent = 1 },
			&RateReport{CrawlDelaySupport: "undocumented", Limit: "GPTBot 2/2h", Requests: 60, OverLimit: 58, WouldSlow: 58}},
		{"a limit of those under way alone, of which logs say nothing", visitsEvery(time.Minute, time.Hour, 1, "/", gptbot), concurrent("GPTBot"), nil},
		{"a name that nobody knows, from one network", visitsEvery(time.Second/2, 10*time.Minute, 1, "/", foocrawler), nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "undocumented", Requests: 1200, OverLimit: over(t, 1), WouldSlow: over(t, 1)}},
		{"a name that nobody knows, from 200 networks", visitsEvery(time.Second/2, 10*time.Minute, 200, "/", foocrawler), nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "undocumented", Requests: 1200}},
		{"images", visitsEvery(time.Second/2, 10*time.Minute, 1, "/a.png", ccbot), nil, nil},
		{"a group that asks for nothing", visitsEvery(time.Second/2, 10*time.Minute, 1, "/", gptbot), nil, nil},
		{"what is forbidden passes in monitor", visitsEvery(10*time.Second, time.Minute, 1, "/private/x", ccbot), nil, &RateReport{CrawlDelay: 10, CrawlDelaySupport: "obeys", Requests: 6}},
		{"what is blocked does not count", visitsEvery(10*time.Second, time.Minute, 1, "/private/x", ccbot), func(o *Options) { o.Settings.Enforce = true }, nil},
		{"not looked at", fast, func(o *Options) { o.Rate = nil }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := replayed(t, tc.log, func(o *Options) {
				o.Versions, o.Rate = oneVersion(robots), enforced()
				if tc.change != nil {
					tc.change(o)
				}
			})
			if got := r.Crawlers[0].Rate; (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

// enforced returns the settings of rate enforce.
func enforced() *rate.Settings {
	s := rate.DefaultSettings
	s.Enforce = true
	return &s
}

// limited sets a limit of the given burst and one request an hour.
func limited(client string, requests int) func(*Options) {
	return func(o *Options) {
		clients, _ := judge.ParseSelector(uaident.Default(), []string{client}, false)
		o.Rate.Limits = []rate.Limit{{
			Client: client, Clients: clients, Requests: requests, Per: time.Duration(requests) * time.Hour,
			Rule: rate.Rule{Interval: time.Hour, Burst: requests},
		}}
	}
}

// concurrent sets a limit on concurrent requests.
func concurrent(client string) func(*Options) {
	return func(o *Options) {
		clients, _ := judge.ParseSelector(uaident.Default(), []string{client}, false)
		o.Rate.Limits = []rate.Limit{{Client: client, Clients: clients, Concurrent: 1}}
	}
}

// over returns the number of requests over the limit of the server's own budgets, for two requests
// a second in ten minutes.
func over(t *testing.T, networks int) (n uint64) {
	t.Helper()
	budgets, rules := rate.NewBudgets(time.Unix(0, 0)), rate.DefaultSettings.RulesForClient(new(uaident.Identify(ccbot)), verify.Claimed, 10*time.Second, nil)
	for i := range 1200 {
		at := time.Date(2026, time.November, 21, 12, 0, i/2, 0, time.UTC) // in whole seconds, as in the log
		who := rate.Client{
			Site: new(policy.Key), Token: "CCBot", Identity: verify.Claimed,
			Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + i%networks), 0}), 24),
		}
		if budgets.ChargeRequest(at, &who, &rules).IsOverRate {
			n++
		}
	}
	if n < 1000 || n > 1150 {
		t.Fatalf("%d are too many", n)
	}
	return n
}

// TestRateAfterAChange applies a longer delay one day after the change, also to a crawler that
// fetched the new file.
func TestRateAfterAChange(t *testing.T) {
	t.Parallel()
	changed := func(at time.Time) []Version {
		return []Version{
			{Name: "old", Body: []byte("User-agent: *\nCrawl-delay: 1\n"), From: time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)},
			{Name: "new", Body: []byte("User-agent: *\nCrawl-delay: 20\n"), From: at},
		}
	}
	began := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) // the start of the log
	visits := visitsEvery(time.Second, 10*time.Minute, 1, "/", ccbot)
	read := combined(noon, "GET /robots.txt", ccbot)
	for name, tc := range map[string]struct {
		change time.Time
		delay  float64
		over   bool
	}{
		"just changed": {began, 1, false},
		"a day later":  {began.Add(-24 * time.Hour), 20, true},
	} {
		r := replayed(t, read+visits, func(o *Options) { o.Versions, o.Rate = changed(tc.change), &rate.DefaultSettings })
		if got := r.Crawlers[0].Rate; got == nil || got.CrawlDelay != tc.delay || (got.OverLimit > 0) != tc.over {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var table strings.Builder
	r := replayed(t, read+visits, func(o *Options) { o.Versions, o.Rate = changed(began.Add(-24*time.Hour)), enforced() })
	if r.WriteText(&table); !strings.Contains(table.String(), "CRAWLER  CRAWL-DELAY  OBEYS IT  LIMIT  COUNTED  OVER LIMIT  429\n") ||
		!strings.Contains(table.String(), "\nrate enforce would have answered 550 requests with 429.\n") {
		t.Error(table.String())
	}
}
