package guard

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// enforcing returns settings that enforce a low limit.
func enforcing(change func(*rate.Settings)) *rate.Settings {
	s := *slow
	s.Enforce = true
	if change != nil {
		change(&s)
	}
	return &s
}

// TestSlowed checks which clients get 429 with rate enforce.
func TestSlowed(t *testing.T) {
	const robots = "User-agent: *\nCrawl-delay: 40\n\nUser-agent: Slackbot\nCrawl-delay: 40\n\nUser-agent: Amazonbot\nCrawl-delay: 40\nSitemap: https://a.test/list\n"
	limits := func(clients ...string) *rate.Settings {
		return enforcing(func(s *rate.Settings) {
			for _, client := range clients {
				s.Limits = append(s.Limits, limitOf(t, client, 2))
			}
		})
	}
	for _, tc := range []struct {
		name, userAgent, method, target string
		settings                        *rate.Settings
		slowed                          int // of 40 requests
	}{
		{"a crawler", "CCBot/2.0", http.MethodGet, "/", enforcing(nil), 37},
		{"HEAD", "CCBot/2.0", http.MethodHead, "/", enforcing(nil), 37},
		{"observed", "CCBot/2.0", http.MethodGet, "/", slow, 0},
		{"a service that a group names", "Slackbot 1.0", http.MethodGet, "/", enforcing(nil), 37},
		{"a service that no group names", "UptimeRobot/2.0", http.MethodGet, "/", enforcing(nil), 0},
		{"a service that a limit names", "UptimeRobot/2.0", http.MethodGet, "/", limits("UptimeRobot"), 38},
		{"a library", "curl/8.0", http.MethodGet, "/", enforcing(nil), 0},
		{"one that does not read Crawl-delay", "Amazonbot/0.1", http.MethodGet, "/", enforcing(nil), 0},
		{"the same with a limit", "Amazonbot/0.1", http.MethodGet, "/", limits("Amazonbot"), 38},
		{"a search engine", "bingbot/2.0", http.MethodGet, "/", enforcing(nil), 0},
		{"a search engine with a limit", "bingbot/2.0", http.MethodGet, "/", limits("bingbot"), 0},
		{"a search engine, with search enforce", "bingbot/2.0", http.MethodGet, "/", enforcing(func(s *rate.Settings) { s.SlowSearch = true }), 2},
		{"a browser", uaChrome, http.MethodGet, "/", limits("seo"), 0},
		{"robots.txt", "CCBot/2.0", http.MethodGet, "/robots.txt", limits("CCBot"), 0},
		{"a sitemap that the file names", "CCBot/2.0", http.MethodGet, "/list?page=2", limits("CCBot"), 0},
		{"a sitemap", "CCBot/2.0", http.MethodGet, "/sitemap-2.xml.gz", limits("CCBot"), 0},
		{"what is for programs", "CCBot/2.0", http.MethodGet, "/.well-known/security.txt", limits("CCBot"), 0},
		{"a preflight", "CCBot/2.0", http.MethodOptions, "/", limits("CCBot"), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, options{Enforce: true, Rate: tc.settings}, serving(robots))
			slowed := 0
			g.RespondRefused = func(_ http.ResponseWriter, _ *http.Request, j *Judgement, _ caddyhttp.Handler) error {
				if slowed++; j.Action != judge.Slowed || j.Rate.State != rate.SlowedDown || j.Rate.Wait <= 0 {
					t.Errorf("%s, %+v", j.Action, j.Rate)
				}
				return nil
			}
			passed, next := 0, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
			count := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { passed++; return next(w, r) })
			for range 40 {
				r := served(tc.method, tc.userAgent, tc.target)
				if err := g.Serve(httptest.NewRecorder(), r, count); err != nil {
					t.Fatal(err)
				}
			}
			if slowed != tc.slowed || passed != 40-slowed {
				t.Errorf("%d slowed, %d passed, want %d slowed", slowed, passed, tc.slowed)
			}
		})
	}
}

// TestServicesAreNotSlowed sends concurrent requests of the listed services with a
// Crawl-delay of 30 seconds for *. A service to which * does not apply must never get
// 429.
func TestServicesAreNotSlowed(t *testing.T) {
	list, err := os.ReadFile("../../../shared/data/services.tsv")
	if err != nil {
		t.Skip("the list is not here: ", err)
	}
	g := testGuard(t, options{Enforce: true, Rate: enforcing(nil)}, serving("User-agent: *\nCrawl-delay: 30\n"))
	judged, clients := 0, 0
	for row := range strings.Lines(string(list)) {
		userAgent, _, _ := strings.Cut(strings.TrimRight(row, "\n"), "\t")
		clients++
		if uaident.Identify(userAgent).WildcardApplies() {
			judged++ // TestFigures of uaident limits this number
			continue
		}
		for range 20 {
			if j := g.Judge(requestBy(userAgent, "/feed")); j != nil && j.Rate.State != rate.NoRate {
				t.Fatalf("%s: %+v", userAgent, j.Rate)
			}
		}
	}
	if clients < 100 || judged*200 > clients {
		t.Errorf("%d of %d clients are judged by *", judged, clients)
	}
}

// TestSlowedIsCounted checks that a request with 429 appears in the metrics and in the
// ledger. Only a disallowed one is logged as a violation.
func TestSlowedIsCounted(t *testing.T) {
	g := testGuard(t, options{Rate: enforcing(nil)}, serving("User-agent: *\nCrawl-delay: 40\nDisallow: /private/\n"))
	core, logs := observer.New(zap.InfoLevel)
	g.Logger = zap.New(core)
	for _, target := range []string{"/", "/", "/", "/", "/private/x"} {
		_ = g.Serve(httptest.NewRecorder(), served(http.MethodGet, "CCBot/2.0", target), nothingNext)
	}
	if n := logs.FilterMessage("request disallowed by robots.txt").Len(); n != 1 {
		t.Errorf("%d lines about requests outside robots.txt, want 1", n)
	}
	row := g.state.Ledger.Snapshot().Sites[0].Rows[0]
	counts := row.Series[ledger.Days][0].CounterValues()
	if counts[ledger.CountSlowed] != 2 || counts[ledger.CountDisallowed] != 1 || counts[ledger.CountWouldBlock] != 1 || counts.TotalRequests() != 5 {
		t.Errorf("%v", counts)
	}
	if row.LastAction != judge.Logged || row.Samples[0].Action != judge.Logged {
		t.Errorf("its last action outside robots.txt is %s, sampled as %s", row.LastAction, row.Samples[0].Action)
	}
}

// served returns a request as Caddy passes it to a handler.
func served(method, userAgent, target string) *http.Request {
	r := requestBy(userAgent, target)
	r.Method = method
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), browserServer)
}

var nothingNext = caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })

// TestSlowingEndIsTold checks the log line and the event when a search engine gets no
// more 429.
func TestSlowingEndIsTold(t *testing.T) {
	var e told
	core, logs := observer.New(zap.WarnLevel)
	c := options{Rate: enforcing(func(s *rate.Settings) { s.SlowSearch = true })}.config(t)
	c.Logger, c.Events, c.Source = zap.New(core), e.events(), serving("User-agent: *\nCrawl-delay: 40\n")
	g := New(t.Context(), NewState(), c)
	r := served(http.MethodGet, "bingbot/2.0", "/")
	j := g.Judge(r)
	j.Rate.SlowingEnded = true
	e.done.Add(1)
	g.Announce(r, j)
	e.done.Wait()
	if logs.Len() != 1 || logs.All()[0].ContextMap()["crawler"] != "bingbot" {
		t.Errorf("%v", logs.All())
	}
	if len(e.data) != 1 || e.data[0]["event"] != eventSlowingEnded || e.data[0]["crawler"] != "bingbot" {
		t.Errorf("%v", e.data)
	}
}

// TestRateEnforcedOutlivesAReload checks that a guard of the next configuration
// continues to enforce the rate.
func TestRateEnforcedOutlivesAReload(t *testing.T) {
	before := testGuard(t, options{Rate: enforcing(nil)}, serving("User-agent: *\nCrawl-delay: 40\n"))
	for range 10 {
		before.Judge(requestBy("CCBot/2.0", "/"))
	}
	c := options{Rate: enforcing(nil)}.config(t)
	c.Source = before.Source
	after := New(t.Context(), before.state, c)
	if j := after.Judge(requestBy("CCBot/2.0", "/")); j.Action != judge.Slowed || j.Rate.Wait > 40*time.Second {
		t.Errorf("%s, %+v", j.Action, j.Rate)
	}
}
