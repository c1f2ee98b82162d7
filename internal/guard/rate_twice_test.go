package guard

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// TestTwoGuardsCountOnce sends a request through two guards of a site with different
// matchers. Both enforce the same limits, so the request counts once. The second guard
// enforces limits that the first has observed.
func TestTwoGuardsCountOnce(t *testing.T) {
	with := func(enforce bool, limits ...rate.Limit) *rate.Settings {
		s := *slow
		s.Enforce, s.Limits = enforce, limits
		return &s
	}
	six, four, places := limitOf(t, "GPTBot", 6), limitOf(t, "GPTBot", 4), limitOf(t, "GPTBot", 6)
	places.Concurrent = 1
	for _, tc := range []struct {
		name, robots string
		outer, inner *rate.Settings
		passes       int // number of 20 requests that reach the site
	}{
		{"the same limit", "", with(false, six), with(true, six), 6},
		{"the same limit, enforced by both", "", with(true, six), with(true, six), 6},
		{"the same limit, observed by both", "", with(false, six), with(false, six), 20},
		{"the same limit and a place", "", with(true, places), with(true, places), 6},
		{"a stricter one behind", "", with(true, six), with(true, four), 4},
		{"a stricter one in front", "", with(true, four), with(true, six), 4},
		{"what the file asks", "User-agent: *\nCrawl-delay: 40\n", with(false), with(true), 3},
		{"what the file asks, and a limit behind", "User-agent: *\nCrawl-delay: 40\n", with(false), with(true, six), 3},
		{"a limit in front, and what the file asks", "User-agent: *\nCrawl-delay: 10\n", with(true, four), with(true), 4},
	} {
		named := twoHosts()
		for _, server := range []*caddyhttp.Server{named, {}} {
			outer := testGuard(t, options{Rate: tc.outer}, serving(tc.robots))
			c := options{Rate: tc.inner}.config(t)
			c.Source, c.Sites = outer.Source, outer.Sites
			inner := New(t.Context(), outer.state, c)
			passes := 0
			for range 20 {
				r := caddyhttp.PrepareRequest(requestBy("GPTBot/1.0", "http://a.example/"), caddy.NewReplacer(), httptest.NewRecorder(), server)
				_ = outer.Serve(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
					return inner.Serve(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
						passes++
						return nil
					}))
				}))
			}
			if passes != tc.passes {
				t.Errorf("%s, at a host that is named %v: %d passed, want %d", tc.name, server == named, passes, tc.passes)
			}
		}
	}
}

// TestTwoGuardsOfOtherSites tests a second guard for a different site, for which the
// first guard has counted nothing.
func TestTwoGuardsOfOtherSites(t *testing.T) {
	settings := *slow
	settings.Limits = []rate.Limit{limitOf(t, "GPTBot", 6)}
	g := testGuard(t, options{Rate: &settings}, serving(""))
	r := served(http.MethodGet, "GPTBot/1.0", "/")
	first := g.Judge(r)
	caddyhttp.SetVar(r.Context(), Var, first)
	r.Host = "other.test"
	for range 2 {
		caddyhttp.SetVar(r.Context(), Var, g.Judge(r)) // for the other site, then for both
	}
	if n := g.state.rates.Len(); n != 4 {
		t.Errorf("%d budgets, want 2 for each site", n)
	}
}

// TestPlaceholdersOfTwoGuards tests that the placeholders have the values of the second guard's
// judgement, and not of the first guard's.
func TestPlaceholdersOfTwoGuards(t *testing.T) {
	r := served(http.MethodGet, "GPTBot/1.0", "/x")
	placeholders := func() string {
		return r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer).ReplaceAll("{http.robots_guard.verdict} {http.robots_guard.action} [{http.robots_guard.line}]", "")
	}
	for _, tc := range []struct{ robots, want string }{
		{"User-agent: *\nDisallow: /\n", "disallowed logged [2]"},
		{"User-agent: GPTBot\nDisallow: /a\n", "allowed none []"},
		{"\nUser-agent: *\nDisallow: /\n", "disallowed logged [3]"},
	} {
		g := testGuard(t, options{}, serving(tc.robots))
		g.Announce(r, g.Judge(r))
		if got := placeholders(); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.robots, got, tc.want)
		}
	}
}

// TestSlotOfASecondCharge removes the Crawl-delay that a first guard observes and a second guard
// enforces. The request that finds the new file is charged twice by the second guard, which allows
// one concurrent request. Afterwards its slot is free.
func TestSlotOfASecondCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := "User-agent: *\nCrawl-delay: 60\n"
		outer, reads := longLived(t, &text)
		outer.Rate = slow
		c := options{Rate: oneAtATime(t)}.config(t)
		c.Source, c.Sites = outer.Source, outer.Sites
		inner := New(t.Context(), outer.state, c)
		numSlowed := func() (n int) {
			for range 20 {
				r := served(http.MethodGet, "CCBot/2.0", "/x")
				_ = outer.Serve(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
					err := inner.Serve(w, r, nothingNext)
					if j, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement); j.Rate.State == rate.SlowedDown {
						n++
					}
					return err
				}))
				reads()
			}
			return n
		}
		if numSlowed() == 0 {
			t.Fatal("the second guard does not enforce the Crawl-delay")
		}
		time.Sleep(2 * time.Minute)
		text = "User-agent: *\nDisallow:\n"
		if n := numSlowed(); n > 0 {
			t.Errorf("%d requests are slowed without a Crawl-delay", n)
		}
	})
}
