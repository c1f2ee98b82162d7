package guard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// slow are settings with a low limit.
var slow = &rate.Settings{MaxCrawlDelay: time.Minute, Burst: 3, Tolerance: 1.5, Window: time.Minute}

// TestRateObserved checks which requests are counted and which exceed the limit.
func TestRateObserved(t *testing.T) {
	const robots = "User-agent: *\nCrawl-delay: 40\nDisallow: /private/\n\nUser-agent: CCBot\nDisallow:\n\nUser-agent: Slackbot\nCrawl-delay: 5\nSitemap: https://a.test/list\n"
	for _, tc := range []struct {
		name, userAgent, target string
		requests                int
		want                    rate.State // of the last request
	}{
		{"the first", "bingbot/2.0", "/", 1, rate.WithinRate},
		{"a burst", "bingbot/2.0", "/", 3, rate.WithinRate},
		{"one too many", "bingbot/2.0", "/", 4, rate.OverRate},
		{"a group of its own that asks for nothing", "CCBot/2.0", "/", 40, rate.NoRate},
		{"a class that * is not meant for", "UptimeRobot/2.0", "/", 40, rate.NoRate},
		{"a class that * is not meant for, with a group of its own", "Slackbot 1.0", "/", 40, rate.OverRate},
		{"robots.txt", "bingbot/2.0", "/robots.txt", 40, rate.NoRate},
		{"a sitemap that the file names", "bingbot/2.0", "/list?page=2", 40, rate.NoRate},
		{"an image", "bingbot/2.0", "/a.png", 40, rate.NoRate},
		{"a blocked request", "bingbot/2.0", "/private/x", 40, rate.NoRate},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, options{Enforce: true, Rate: slow}, serving(robots))
			var j *Judgement
			for range tc.requests {
				j = g.Judge(requestBy(tc.userAgent, tc.target))
			}
			if j.Rate.State != tc.want || (tc.want == rate.OverRate) != (j.Rate.Wait > 0) {
				t.Errorf("%+v, want %q", j.Rate, tc.want)
			}
			if tc.want == rate.OverRate && tc.userAgent == "bingbot/2.0" && j.Rate.Delay != (policy.Delay{Interval: 40 * time.Second, Line: 2}) {
				t.Errorf("it is asked for %+v", j.Rate.Delay)
			}
		})
	}
}

// limitOf returns a limit of the given number of requests per hour, all of which may
// come at once.
func limitOf(t testing.TB, client string, requests int) rate.Limit {
	t.Helper()
	clients, err := judge.ParseSelector(uaident.Default(), []string{client}, false)
	if err != nil {
		t.Fatal(err)
	}
	return rate.Limit{
		Client: client, Clients: clients, Requests: requests, Per: time.Duration(requests) * time.Hour,
		Rule: rate.Rule{Interval: time.Hour, Burst: requests},
	}
}

// TestRateLimits checks the owner's limits in addition to Crawl-delay.
func TestRateLimits(t *testing.T) {
	off := *slow
	off.IgnoreCrawlDelay = true
	limits := []rate.Limit{limitOf(t, "GPTBot", 2), limitOf(t, "ai_training", 5), limitOf(t, "monitor", 1)}
	for _, tc := range []struct {
		name, robots, userAgent string
		settings                *rate.Settings
		passes                  int // number of 20 requests within the limit; 0 without a limit
	}{
		{"a token", "", "GPTBot/1.0", slow, 2},
		{"a class", "", "CCBot/2.0", slow, 5},
		{"another class", "", "bingbot/2.0", slow, 0},
		{"a class that * is not meant for", "User-agent: *\nDisallow: /x\n", "UptimeRobot/2.0", slow, 1},
		{"the limit is stricter", "User-agent: *\nCrawl-delay: 1\n", "GPTBot/1.0", slow, 2},
		{"the file is stricter", "User-agent: *\nCrawl-delay: 40\n", "CCBot/2.0", slow, 3},
		{"the file is left out", "User-agent: *\nCrawl-delay: 40\n", "CCBot/2.0", &off, 5},
		{"the file alone, and it is left out", "User-agent: *\nCrawl-delay: 40\n", "bingbot/2.0", &off, 0},
	} {
		settings := *tc.settings
		settings.Limits = limits
		g := testGuard(t, options{Rate: &settings}, serving(tc.robots))
		passes := 0
		for range 20 {
			if g.Judge(requestBy(tc.userAgent, "/")).Rate.State == rate.WithinRate {
				passes++
			}
		}
		if passes != tc.passes {
			t.Errorf("%s: %d passed, want %d", tc.name, passes, tc.passes)
		}
	}
}

// TestRateOfAnotherNetwork checks that the requests of an unverified name count per
// network. Only requests within the limit of a network count towards the limit of all
// networks.
func TestRateOfAnotherNetwork(t *testing.T) {
	g := testGuard(t, options{Rate: slow}, serving("User-agent: *\nCrawl-delay: 40\n"))
	ask := func(address string) Rate { return g.Judge(from(requestBy("bingbot/2.0", "/"), address)).Rate }
	for range 40 {
		ask("192.0.2.1")
	}
	if one, other := ask("192.0.2.2"), ask("198.51.100.1"); one.Requests != 41 || other.Requests >= 10 {
		t.Errorf("%d were seen of the network, and %d with another", one.Requests, other.Requests)
	}
}

// TestRateOff checks that nothing is counted without the option.
func TestRateOff(t *testing.T) {
	g := testGuard(t, options{}, serving("User-agent: *\nCrawl-delay: 40\n"))
	for range 40 {
		if j := g.Judge(requestBy("bingbot/2.0", "/")); j.Rate != (Rate{}) {
			t.Fatalf("%+v", j.Rate)
		}
	}
}

// TestRateAfterAChange changes the delay. A longer delay applies after the grace, and a
// shorter one at once.
func TestRateAfterAChange(t *testing.T) {
	const before, after = "User-agent: *\nCrawl-delay: 2\n", "User-agent: *\nCrawl-delay: 20\n"
	for _, tc := range []struct {
		name         string
		first, then  string
		grace        time.Duration
		delay        time.Duration
		stale, asked bool
	}{
		{"longer", before, after, 0, 2 * time.Second, true, true},
		{"longer, without grace", before, after, -1, 20 * time.Second, false, true},
		{"shorter", after, before, 0, 2 * time.Second, false, true},
		{"new", "User-agent: *\nDisallow: /x\n", after, 0, 0, false, false},
		{"new for what * is not meant for", before, "User-agent: *\nAllow: /\n\nUser-agent: Slackbot\nCrawl-delay: 20\n", 0, 0, false, false},
		{"gone", before, "User-agent: *\nDisallow: /x\n", 0, 0, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, options{Rate: slow, Grace: tc.grace}, serving(tc.first))
			r := requestBy("bingbot/2.0", "/")
			if strings.Contains(tc.then, "Slackbot") {
				r = requestBy("Slackbot 1.0", "/")
			}
			j := g.Judge(r)
			changed := policy.FetchResult{Status: http.StatusOK, Body: []byte(tc.then)}
			readAs(g.state.Cache.Get(j.Site.Key), policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}, func() policy.FetchResult { return changed })
			got := g.Judge(r).Rate
			if got.Delay.Interval != tc.delay || got.IsStale != tc.stale || (got.State != rate.NoRate) != tc.asked {
				t.Errorf("%+v, want %v, stale %v", got, tc.delay, tc.stale)
			}
		})
	}
}

// TestRateOutlivesAReload checks that the counts continue with a guard of the next
// configuration.
func TestRateOutlivesAReload(t *testing.T) {
	before := testGuard(t, options{Rate: slow}, serving("User-agent: *\nCrawl-delay: 40\n"))
	for range 10 {
		before.Judge(requestBy("bingbot/2.0", "/"))
	}
	c := options{Rate: slow}.config(t)
	c.Source = before.Source
	after := New(t.Context(), before.state, c)
	if j := after.Judge(requestBy("bingbot/2.0", "/")); j.Rate.State != rate.OverRate || j.Rate.Requests != 11 {
		t.Errorf("%+v", j.Rate)
	}
}

func TestRateShown(t *testing.T) {
	g := testGuard(t, options{Rate: slow}, serving("User-agent: *\nCrawl-delay: 1.5\n"))
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	for userAgent, want := range map[string][3]string{"bingbot/2.0": {"within", "1.5", "2"}, uaChrome: {}} {
		r := browserRequest()
		r.Header.Set("User-Agent", userAgent)
		if err := g.Serve(httptest.NewRecorder(), r, next); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"rate", "rate.delay", "rate.line"} {
			if got := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer).ReplaceKnown("{http.robots_guard."+name+"}", ""); got != want[i] {
				t.Errorf("%s: %s is %q, want %q", userAgent, name, got, want[i])
			}
		}
	}
}

// BenchmarkGuardCrawlerWithRate is like BenchmarkGuardCrawler with a Crawl-delay for
// the crawler, with and without the option.
func BenchmarkGuardCrawlerWithRate(b *testing.B) {
	for name, settings := range map[string]*rate.Settings{"off": nil, "observe": slow} {
		b.Run(name, func(b *testing.B) {
			g := testGuard(b, options{Enforce: true, Rate: settings}, serving("User-agent: *\nCrawl-delay: 2\nDisallow: /private/\n"))
			r := browserRequest()
			r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
			g.Judge(r)
			b.ReportAllocs()
			for b.Loop() {
				g.Judge(r)
			}
		})
	}
}

// TestSpendingCostsNoAllocation counts requests of crawlers with a Crawl-delay and with
// limits for names in different cases.
func TestSpendingCostsNoAllocation(t *testing.T) {
	settings := *slow
	settings.Limits = []rate.Limit{limitOf(t, "CCBot", 1), limitOf(t, "AhrefsBot", 2), limitOf(t, "seo", 2)}
	settings.Limits[1].Concurrent = 1
	for _, userAgent := range []string{"bingbot/2.0", "CCBot/2.0", "AhrefsBot/7.0", "SemrushBot/7", "FooCrawler/1.0 (+https://foo.example/bot)"} {
		g := testGuard(t, options{Rate: &settings}, serving("User-agent: *\nCrawl-delay: 2\n"))
		r := browserRequest()
		r.Header.Set("User-Agent", userAgent)
		g.Judge(r).resources.release()
		j := g.Judge(r)
		j.resources.release()
		state, now := g.state.Cache.Get(j.Site.Key).State(), time.Now()
		if n := testing.AllocsPerRun(100, func() {
			j.Rate, j.resources = Rate{}, heldResources{}
			g.chargeRate(r, j, state, now)
			j.resources.release()
		}); n > 0 || j.Rate.State == rate.NoRate {
			t.Errorf("%s: %v allocations, %+v", userAgent, n, j.Rate)
		}
	}
}

// BenchmarkSpend measures the additional cost of the option rate for an evaluated
// request. The cases are a verified crawler, an unverified one, one with a limit of the
// owner, and one without a limit.
func BenchmarkSpend(b *testing.B) {
	const bing, asks = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "User-agent: *\nCrawl-delay: 2\nDisallow: /private/\n"
	limited := *slow
	limited.Limits = []rate.Limit{limitOf(b, "GPTBot", 1), limitOf(b, "bingbot", 1000)}
	for _, bench := range []struct {
		name, robots string
		settings     *rate.Settings
		identity     verify.State
	}{
		{"verified", asks, slow, verify.Verified},
		{"claimed", asks, slow, verify.Claimed},
		{"limit", "User-agent: *\n", &limited, verify.Verified},
		{"nothing", "User-agent: *\n", slow, verify.Claimed},
	} {
		b.Run(bench.name, func(b *testing.B) {
			g := testGuard(b, options{Enforce: true, Rate: bench.settings}, serving(bench.robots))
			r := browserRequest()
			r.Header.Set("User-Agent", bing)
			g.Judge(r)
			j := g.Judge(r)
			j.Verification = bench.identity
			state, now := g.state.Cache.Get(j.Site.Key).State(), time.Now()
			b.ReportAllocs()
			for b.Loop() {
				j.Rate = Rate{}
				g.chargeRate(r, j, state, now)
			}
			if (j.Rate.State == rate.NoRate) != (bench.name == "nothing") {
				b.Fatalf("%+v", j.Rate)
			}
		})
	}
}
