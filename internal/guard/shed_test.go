package guard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// shedding are settings by which load is shed as by default.
func shedding(enforce bool) *rate.Settings {
	s := *slow
	s.Enforce = enforce
	s.Shed = &rate.Shedding{Thresholds: rate.DefaultThresholds, Classes: rate.DefaultClasses()}
	return &s
}

// loaded is a site whose answers take as long as took, by a clock of its own.
type loaded struct {
	*Guard
	clock   atomic.Int64 // which who watches the load reads, too
	took    time.Duration
	ticks   chan time.Time
	logs    *observer.ObservedLogs
	refused int
}

func newLoaded(t testing.TB, settings *rate.Settings, robots string) *loaded {
	l := &loaded{ticks: make(chan time.Time)}
	l.clock.Store(int64(time.Hour))
	core, logs := observer.New(zap.InfoLevel)
	l.logs = logs
	c := options{Enforce: true, Rate: settings}.config(t)
	c.Logger, c.Source = zap.New(core), serving(robots)
	state := testGuard(t, options{}, c.Source).shared
	state.Ledger = ledger.New(time.Now)
	now := func() time.Duration { return time.Duration(l.clock.Load()) }
	state.clock, state.loads = now, newLoads(now, func(time.Duration) <-chan time.Time { return l.ticks })
	t.Cleanup(state.loads.end)
	c.Refuse = func(http.ResponseWriter, *http.Request, *Judgement, caddyhttp.Handler) error { l.refused++; return nil }
	l.Guard = New(t.Context(), state, c)
	return l
}

// ask lets the site be asked and returns the judgement, nil for a browser's.
func (l *loaded) ask(method, userAgent, target string) *Judgement {
	r := served(method, userAgent, target)
	_ = l.Serve(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		l.clock.Add(int64(l.took))
		w.WriteHeader(http.StatusOK)
		l.clock.Add(-int64(l.took)) // others are answered meanwhile
		return nil
	}))
	j, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement)
	return j
}

// pass lets browsers ask twice a second for a time.
func (l *loaded) pass(t time.Duration) {
	for range t / (time.Second / 2) {
		l.clock.Add(int64(time.Second / 2))
		l.ask(http.MethodGet, uaChrome, "/")
	}
}

// overload brings the site under load.
func (l *loaded) overload(t testing.TB) {
	t.Helper()
	l.took = 3 * time.Second
	if l.pass(time.Minute); !l.shared.SheddingHosts()[judge.OtherName] {
		t.Fatalf("the site is not under load: %v", l.shared.SheddingHosts())
	}
}

// TestShed tells whose requests are shed under load, and whose never are.
func TestShed(t *testing.T) {
	const robots = "User-agent: *\nDisallow: /private/\nSitemap: https://a.test/list\n"
	l := newLoaded(t, shedding(true), robots)
	for _, userAgent := range []string{"CCBot/2.0", "AhrefsBot/7.0"} {
		if j := l.ask(http.MethodGet, userAgent, "/"); j.Rate.State != rate.NotAsked {
			t.Errorf("%s without load: %q", userAgent, j.Rate.State)
		}
	}
	l.overload(t)
	for _, tc := range []struct {
		name, method, userAgent, target string
		want                            judge.Action
	}{
		{"AI training", http.MethodGet, "CCBot/2.0", "/", judge.Slowed},
		{"its images", http.MethodGet, "CCBot/2.0", "/a.png", judge.Slowed},
		{"HEAD", http.MethodHead, "CCBot/2.0", "/", judge.Slowed},
		{"SEO", http.MethodGet, "AhrefsBot/7.0", "/", judge.Slowed},
		{"a crawler that nobody knows", http.MethodGet, "FooCrawler/1.0 (+https://foo.example/bot)", "/", judge.Slowed},
		{"what is forbidden", http.MethodGet, "CCBot/2.0", "/private/", judge.Blocked},
		{"robots.txt", http.MethodGet, "CCBot/2.0", "/robots.txt", judge.None},
		{"a sitemap that the file names", http.MethodGet, "CCBot/2.0", "/list", judge.None},
		{"a sitemap", http.MethodGet, "CCBot/2.0", "/sitemap.xml", judge.None},
		{"what is for programs", http.MethodGet, "CCBot/2.0", "/.well-known/security.txt", judge.None},
		{"a preflight", http.MethodOptions, "CCBot/2.0", "/", judge.None},
		{"a search engine", http.MethodGet, "bingbot/2.0", "/", judge.None},
		{"an assistant", http.MethodGet, "ChatGPT-User/1.0", "/", judge.None},
		{"a preview", http.MethodGet, "Slackbot 1.0", "/", judge.None},
		{"a feed reader", http.MethodGet, "Feedly/1.0", "/", judge.None},
		{"a monitor", http.MethodGet, "UptimeRobot/2.0", "/", judge.None},
		{"a library", http.MethodGet, "curl/8.0", "/", judge.None},
	} {
		before := l.refused
		j := l.ask(tc.method, tc.userAgent, tc.target)
		if j.Action != tc.want || (tc.want == judge.Slowed) != (j.Rate.State == rate.Shed) || (l.refused > before) != (tc.want != judge.None) {
			t.Errorf("%s: %s, %q, want %s", tc.name, j.Action, j.Rate.State, tc.want)
		}
		if j.Rate.State == rate.Shed && j.Rate.Wait != 2*time.Minute {
			t.Errorf("%s: it is to wait for %v", tc.name, j.Rate.Wait)
		}
	}
	for _, row := range l.shared.Ledger.Snapshot().Sites[0].Rows {
		if counts := row.Series[ledger.Days][0].Counts(); row.Token == "CCBot" && (counts[ledger.CountShed] != 3 || counts[ledger.CountSlowed] != 0 || counts[ledger.CountBlocked] != 1) {
			t.Errorf("counted as %v", counts)
		}
	}
}

// TestShedObserved sheds nothing, and says of whom it would.
func TestShedObserved(t *testing.T) {
	l := newLoaded(t, shedding(false), "")
	l.overload(t)
	if j := l.ask(http.MethodGet, "CCBot/2.0", "/"); j.Action != judge.None || j.Rate.State != rate.Shed || l.refused > 0 {
		t.Errorf("%s, %q, %d refused", j.Action, j.Rate.State, l.refused)
	}
	if n := l.logs.FilterMessageSnippet("with rate enforce crawlers would be answered 503").Len(); n != 1 {
		t.Errorf("%v", l.logs.All())
	}
}

// TestSheddingEnds ends it by the clock alone: nobody asks for anything any more. Both
// are told, once.
func TestSheddingEnds(t *testing.T) {
	var e told
	l := newLoaded(t, shedding(true), "")
	l.Events = e.events()
	e.done.Add(2)
	l.overload(t)
	l.clock.Add(int64(3 * time.Minute))
	l.ticks <- time.Time{}
	e.done.Wait()
	if under := l.shared.SheddingHosts(); len(under) > 0 {
		t.Errorf("%v are under load", under)
	}
	if l.logs.Len() != 2 || l.logs.All()[0].ContextMap()["host"] != judge.OtherName || l.logs.All()[0].Level != zap.WarnLevel {
		t.Errorf("%v", l.logs.All())
	}
	if len(e.data) != 2 || !slices.ContainsFunc(e.data, func(d map[string]any) bool { return d["over"] == true && d["event"] == eventShedding }) {
		t.Errorf("%v", e.data)
	}
}

// TestSheddingDoesNotFlap has answers be slow and fast each second for an hour: it begins
// once, and ends after that.
func TestSheddingDoesNotFlap(t *testing.T) {
	l := newLoaded(t, shedding(true), "")
	for i := range 3600 {
		l.took = time.Duration(i%2) * 3 * time.Second
		l.pass(time.Second)
		select {
		case l.ticks <- time.Time{}:
		default: // nobody waits while there is no load
		}
	}
	if !l.shared.SheddingHosts()[judge.OtherName] {
		t.Error("it has ended")
	}
	if n := l.logs.FilterMessageSnippet("is under load").Len(); n != 1 || l.logs.Len() != 1 {
		t.Errorf("%d lines, %d of them that it began", l.logs.Len(), n)
	}
	l.took = 0
	l.pass(3 * time.Minute)
	for l.shared.SheddingHosts()[judge.OtherName] {
		select {
		case l.ticks <- time.Time{}:
		default:
			runtime.Gosched() // until that was looked at
		}
	}
}

// TestSheddingCostsABrowserNothing has browsers ask often: only where a site answers less
// than a hundred requests a second are all of its answers timed.
func TestSheddingCostsABrowserNothing(t *testing.T) {
	l := newLoaded(t, shedding(true), "")
	w, r := httptest.NewRecorder(), browserRequest()
	serve := func() { _ = l.Serve(w, r, nothingNext) }
	for range 150 {
		serve()
	}
	if n := testing.AllocsPerRun(10_000, serve); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if seen := l.shared.loads.of(judge.OtherName, l.Guard).Recent(time.Duration(l.clock.Load())); seen.Answers < 600 || seen.Answers > 800 {
		t.Errorf("%+v of 10,150 in a second", seen)
	}
}

// TestSheddingOutlivesAReload sheds on with a guard of the next configuration, and ends
// with the last that goes by the same thresholds.
func TestSheddingOutlivesAReload(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	l := newLoaded(t, shedding(true), "")
	l.overload(t)
	c := l.Config
	after := New(ctx, l.shared, c)
	l.shared.loads.leave(l.Guard)
	if j := after.Judge(requestBy("CCBot/2.0", "/")); j.Rate.State != rate.Shed {
		t.Errorf("after the reload: %q", j.Rate.State)
	}
	l.shared.loads.leave(after)
	if under := l.shared.SheddingHosts(); len(under) > 0 || l.shared.loads.by.Len() > 0 || len(l.shared.loads.users) > 0 {
		t.Errorf("after the last: %v, %d loads", under, l.shared.loads.by.Len())
	}
	if n := l.logs.FilterMessageSnippet("has ended").Len(); n != 1 {
		t.Errorf("%v", l.logs.All())
	}
	end()
}

// BenchmarkServeShedding measures what a browser's request and a crawler's cost where the
// load is looked at.
func BenchmarkServeShedding(b *testing.B) {
	for name, userAgent := range map[string]string{"crawler": "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "browser": uaChrome} {
		for kind, settings := range map[string]*rate.Settings{"off": slow, "on": shedding(true)} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				g := testGuard(b, options{Enforce: true, Rate: settings}, serving(mixedRobots))
				g.shared.Ledger = ledger.New(time.Now)
				g.Judge(requestBy("bingbot/2.0", "/"))
				r := browserRequest()
				r.Header.Set("User-Agent", userAgent)
				w := httptest.NewRecorder()
				b.ReportAllocs()
				for b.Loop() {
					_ = g.Serve(w, r, nothingNext)
				}
			})
		}
	}
}
