package caddymodule

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// scriptedSource is a source that answers what a test says.
type scriptedSource struct {
	answer func(ctx context.Context) policy.Answer
	reads  atomic.Int32
}

func (s *scriptedSource) prepare(*http.Request, policy.Key, witness) (reader, bool) {
	return func(ctx context.Context, _ *policy.Version) policy.Answer {
		s.reads.Add(1)
		return s.answer(ctx)
	}, true
}

func serving(text string) *scriptedSource {
	return &scriptedSource{answer: func(context.Context) policy.Answer {
		return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
	}}
}

// testGuard returns a guard with a state of its own.
func testGuard(t testing.TB, h Handler, s source) *guard {
	t.Helper()
	ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	h.logger = zap.NewNop()
	h.setDefaults()
	g, err := newGuard(ctx, &h)
	if err != nil {
		t.Fatal(err)
	}
	g.source = s
	g.state = &state{
		cache:      policy.NewCache(namedBounds, inventedBounds, time.Now, deriveNames),
		readers:    ledger.NewReaders(100, 100),
		labels:     newLabels(),
		violations: newViolations(),
	}
	return g
}

func request(userAgent, target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("User-Agent", userAgent)
	return r
}

const mixedRobots = `User-agent: *
Disallow: /private/

User-agent: Googlebot
Disallow: /google/

User-agent: AdsBot-Google
Disallow: /ads/

User-agent: curl
User-agent: facebookexternalhit
User-agent: acmescraper
Disallow: /named/
`

const (
	uaFirefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	uaChrome  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	uaPreview = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
)

func TestJudgement(t *testing.T) {
	for _, tc := range []struct {
		name, userAgent, target string
		verdict                 verdict
		action                  action
		rule                    string
	}{
		{"a crawler under *", "bingbot/2.0", "/private/x", verdictDisallowed, actionBlocked, "Disallow: /private/"},
		{"elsewhere", "bingbot/2.0", "/public/x", verdictAllowed, actionNone, ""},
		{"a crawler with a group of its own is not judged by *", "Googlebot/2.1", "/private/x", verdictAllowed, actionNone, ""},
		{"but by its group", "Googlebot/2.1", "/google/x", verdictDisallowed, actionBlocked, "Disallow: /google/"},
		{"a documented fallback", "Googlebot-Image/1.0", "/google/x", verdictDisallowed, actionBlocked, "Disallow: /google/"},
		{"a crawler that is documented to ignore *", "Mediapartners-Google", "/private/x", verdictExempt, actionNone, ""},
		{"unless it is named", "AdsBot-Google (+http://www.google.com/adsbot.html)", "/ads/x", verdictDisallowed, actionBlocked, "Disallow: /ads/"},
		{"a library is not judged by *", "Wget/1.21", "/private/x", verdictExempt, actionNone, ""},
		{"unless it is named", "curl/8.7.1", "/named/x", verdictDisallowed, actionBlocked, "Disallow: /named/"},
		{"a link preview is not judged by *", "Twitterbot/1.0", "/private/x", verdictExempt, actionNone, ""},
		{"unless it is named", uaPreview, "/named/x", verdictDisallowed, actionBlocked, "Disallow: /named/"},
		{"a name that only this policy knows", "acmescraper/0.1", "/named/x", verdictDisallowed, actionBlocked, "Disallow: /named/"},
		{"robots.txt itself", "bingbot/2.0", "/robots.txt?x", verdictAllowed, actionNone, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, Handler{Mode: modeEnforce}, serving(mixedRobots))
			g.judge(request("bingbot/2.0", "/")) // reads the file
			j := g.judge(request(tc.userAgent, tc.target))
			if j == nil {
				t.Fatal("not judged")
			}
			if j.verdict != tc.verdict || j.action != tc.action || j.policy.Rule.String() != tc.rule {
				t.Errorf("%s, %s, %q; want %s, %s, %q", j.verdict, j.action, j.policy.Rule, tc.verdict, tc.action, tc.rule)
			}
		})
	}
}

func TestNotJudged(t *testing.T) {
	for _, tc := range []struct {
		name string
		r    *http.Request
	}{
		{"a browser", request(uaFirefox, "/private/x")},
		{"a browser with the name of a group within a word", request(uaFirefox+" xacmescraperx/1.0", "/named/x")},
		{"no User-Agent", request("", "/private/x")},
		{"CONNECT", &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: "example.com:443"}, RequestURI: "example.com:443", Host: "example.com:443", Header: http.Header{"User-Agent": {"bingbot/2.0"}}}},
		{"OPTIONS *", &http.Request{Method: http.MethodOptions, URL: &url.URL{Path: "*"}, RequestURI: "*", Host: "example.com", Header: http.Header{"User-Agent": {"bingbot/2.0"}}}},
		{"a certificate validator", request("bingbot/2.0", "/.well-known/acme-challenge/token")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, Handler{Mode: modeEnforce}, serving(mixedRobots+"\nUser-agent: bingbot\nDisallow: /\n"))
			g.judge(request("bingbot/2.0", "/"))
			if j := g.judge(tc.r); j != nil {
				t.Errorf("judged: %s by %q", j.verdict, j.policy.Rule)
			}
		})
	}
}

func TestNoACMEChallenge(t *testing.T) {
	for _, target := range []string{
		"/.well-known/acme-challenge/",
		"/.well-known/acme-challenge/a/b",
		"/.well-known/acme-challenge/a%2Fb",
		"/.well-known/acme-challenge/../../private/x",
		"/.well-known/acme-challenge/..%2f..%2fprivate",
		"/x/.well-known/acme-challenge/token",
	} {
		g := testGuard(t, Handler{Mode: modeEnforce}, serving("User-agent: bingbot\nDisallow: /\n"))
		if j := g.judge(request("bingbot/2.0", target)); j == nil || j.verdict != verdictDisallowed {
			t.Errorf("%s passes as a challenge", target)
		}
	}
	post := request("bingbot/2.0", "/.well-known/acme-challenge/token")
	post.Method = http.MethodPost
	if !isACMEChallenge(request("x", "/.well-known/acme-challenge/token")) || isACMEChallenge(post) {
		t.Error("GET asks for a challenge, POST does not")
	}
}

func TestConfiguredExceptions(t *testing.T) {
	for _, tc := range []struct {
		name      string
		handler   Handler
		userAgent string
		verdict   verdict
		action    action
	}{
		{"monitor logs", Handler{Mode: modeMonitor}, "bingbot/2.0", verdictDisallowed, actionLogged},
		{"exempt by token", Handler{Mode: modeEnforce, Exempt: []string{"BINGBOT"}}, "bingbot/2.0", verdictExempt, actionNone},
		{"exempt by class", Handler{Mode: modeEnforce, Exempt: []string{"search"}}, "bingbot/2.0", verdictExempt, actionNone},
		{"exempt by another token", Handler{Mode: modeEnforce, Exempt: []string{"Googlebot"}}, "bingbot/2.0", verdictDisallowed, actionBlocked},
		{"only_log by token", Handler{Mode: modeEnforce, OnlyLog: []string{"bingbot"}}, "bingbot/2.0", verdictDisallowed, actionLogged},
		{"only_log by class", Handler{Mode: modeEnforce, OnlyLog: []string{"search"}}, "bingbot/2.0", verdictDisallowed, actionLogged},
		{"wildcard takes a class in", Handler{Mode: modeEnforce, Wildcard: []string{"library"}}, "curl/8.7.1", verdictDisallowed, actionBlocked},
		{"wildcard leaves a class out", Handler{Mode: modeEnforce, Wildcard: []string{"library"}}, "bingbot/2.0", verdictExempt, actionNone},
		{"a documented exemption wins over wildcard", Handler{Mode: modeEnforce, Wildcard: []string{"ads"}}, "Mediapartners-Google", verdictExempt, actionNone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, tc.handler, serving("User-agent: *\nDisallow: /\n"))
			g.judge(request("bingbot/2.0", "/"))
			<-readDone(g, request("bingbot/2.0", "/"))
			j := g.judge(request(tc.userAgent, "/x"))
			if j.verdict != tc.verdict || j.action != tc.action {
				t.Errorf("%s, %s; want %s, %s", j.verdict, j.action, tc.verdict, tc.action)
			}
		})
	}
}

// readDone makes sure that the robots.txt for a request has been read.
func readDone(g *guard, r *http.Request) <-chan struct{} {
	key := keyOf(r)
	read, _ := g.source.prepare(r, keyOf(r), witness{})
	done := g.state.cache.Add(key, policy.Invented).Refresh(policy.Freshness{Default: time.Hour, Max: time.Hour}, func() policy.Answer { return read(context.Background(), nil) }, nil)
	if done == nil {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return done
}

func TestWhoWaitsForTheFirstCopy(t *testing.T) {
	for _, tc := range []struct {
		name, userAgent string
		reads           int32
		waits           time.Duration
	}{
		{"a crawler", "bingbot/2.0", 1, defaultFetchWait},
		{"a library", "curl/8.7.1", 1, 0},
		{"a browser", uaChrome, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				s := &scriptedSource{answer: func(context.Context) policy.Answer {
					<-release
					return policy.Answer{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /\n")}
				}}
				g := testGuard(t, Handler{Mode: modeEnforce}, s)
				start := time.Now()
				j := g.judge(request(tc.userAgent, "/x"))
				if waited := time.Since(start); waited != tc.waits {
					t.Errorf("waited %v, want %v", waited, tc.waits)
				}
				if j != nil && (j.verdict != verdictUnknown || j.action != actionNone) {
					t.Errorf("%s, %s; want unknown and none while nothing is known", j.verdict, j.action)
				}
				close(release)
				synctest.Wait()
				if got := s.reads.Load(); got != tc.reads {
					t.Errorf("%d reads, want %d", got, tc.reads)
				}
			})
		})
	}
}

func TestAReadIsEndedWhenItTakesTooLong(t *testing.T) {
	s := &scriptedSource{answer: func(ctx context.Context) policy.Answer {
		<-ctx.Done()
		if _, ok := ctx.Deadline(); ok {
			t.Error("the context has a deadline")
		}
		return policy.Answer{Err: context.Cause(ctx)}
	}}
	g := testGuard(t, Handler{FetchTimeout: caddy.Duration(20 * time.Millisecond), FetchWait: caddy.Duration(20 * time.Millisecond)}, s)
	r := request("bingbot/2.0", "/x")
	g.judge(r)
	key := keyOf(r)
	for entry := g.state.cache.Get(key); ; time.Sleep(time.Millisecond) {
		if standing := entry.Standing(); standing != nil {
			if !errors.Is(standing.Err, errFetchTimeout) {
				t.Errorf("error = %v", standing.Err)
			}
			return
		}
	}
}

func TestClosedWhileUnreachable(t *testing.T) {
	s := &scriptedSource{answer: func(context.Context) policy.Answer { return policy.Answer{Status: http.StatusInternalServerError} }}
	for _, tc := range []struct {
		name, unreachable, userAgent string
		closed                       bool
	}{
		{"last_good passes", unreachableLastGood, "bingbot/2.0", false},
		{"allow passes", unreachableAllow, "bingbot/2.0", false},
		{"disallow closes", unreachableDisallow, "bingbot/2.0", true},
		{"disallow_google closes", unreachableGoogle, "bingbot/2.0", true},
		{"but not to whom * does not judge", unreachableDisallow, "curl/8.7.1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, Handler{Mode: modeEnforce, Unreachable: tc.unreachable}, s)
			r := request(tc.userAgent, "/x")
			<-readDone(g, r)
			j := g.judge(r)
			if j.verdict != verdictUnknown || j.closed != tc.closed || (j.action == actionBlocked) != tc.closed {
				t.Errorf("%s, %s, closed = %t; want unknown, closed = %t", j.verdict, j.action, j.closed, tc.closed)
			}
		})
	}
}

func TestSitesShareAConfiguredSource(t *testing.T) {
	s := serving("User-agent: *\nDisallow: /\n")
	g := testGuard(t, Handler{Mode: modeEnforce, Source: &Source{File: "/srv/robots.txt"}}, s)
	for _, host := range []string{"a.example", "b.example"} {
		r := request("bingbot/2.0", "/x")
		r.Host = host
		if j := g.judge(r); j.verdict != verdictDisallowed {
			t.Errorf("%s: %s", host, j.verdict)
		}
	}
	if got := s.reads.Load(); got != 1 {
		t.Errorf("the file was read %d times, want 1", got)
	}
}

func TestLabelOf(t *testing.T) {
	g := testGuard(t, Handler{}, serving(mixedRobots+"\nUser-agent: Yandex\nUser-agent: ColdBot/2.1\nDisallow: /x\n"))
	// The first request of all meets a policy that was not known when it was
	// identified.
	cold := g.judge(request("COLDBOT/9.9 (+https://cold.example/bot)", "/x"))
	if got := g.labelOf(cold); cold.verdict != verdictDisallowed || got != "ColdBot" {
		t.Errorf("on a cold cache: %s, label %q, want the policy's spelling", cold.verdict, got)
	}
	for userAgent, want := range map[string]string{
		"BINGBOT/2.0":        "bingbot",
		"ACMEscraper/0.1":    "acmescraper",
		"InventedBot/1.0":    otherLabel,
		"YandexInvented/1.0": otherLabel, // obeys the group of Yandex, but clients can invent such names
	} {
		j := g.judge(request(userAgent, "/"))
		if got := g.labelOf(j); got != want {
			t.Errorf("%s: label %q, want %q", userAgent, got, want)
		}
		if reader := g.claimedReader(request(userAgent, "/"), j).Crawler; reader != foldName(want) {
			t.Errorf("%s: remembered as %q, want %q", userAgent, reader, foldName(want))
		}
	}
}

func TestBrowsersCostNoAllocation(t *testing.T) {
	g := testGuard(t, Handler{Mode: modeEnforce}, serving(mixedRobots))
	g.judge(request("bingbot/2.0", "/"))
	r := browserRequest()
	if n := testing.AllocsPerRun(100, func() {
		if g.judge(r) != nil {
			t.Error("a browser was judged")
		}
	}); n != 0 {
		t.Errorf("judging a browser allocates %v times", n)
	}
}

func TestABrowserThroughTheHandlerCostsNoAllocation(t *testing.T) {
	h := &Handler{guard: testGuard(t, Handler{Mode: modeEnforce}, serving(mixedRobots))}
	h.guard.judge(request("bingbot/2.0", "/"))
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	serve := func(handler func(*http.Request)) float64 {
		return testing.AllocsPerRun(200, func() { handler(browserRequest()) })
	}
	without := serve(func(r *http.Request) { _ = next.ServeHTTP(nil, r) })
	with := serve(func(r *http.Request) { _ = h.ServeHTTP(nil, r, next) })
	if with != without {
		t.Errorf("%v allocations with the guard, %v without", with, without)
	}
}

// browserRequest is a request as Caddy passes it to a handler.
func browserRequest() *http.Request {
	r := request(uaChrome, "/some/page?with=query")
	repl := caddy.NewReplacer()
	return caddyhttp.PrepareRequest(r, repl, httptest.NewRecorder(), browserServer)
}

// browserServer is where it arrives: a guard looks at the routes of a server once.
var browserServer = new(caddyhttp.Server)

func BenchmarkGuardBrowser(b *testing.B) {
	g := testGuard(b, Handler{Mode: modeEnforce}, serving(mixedRobots))
	g.judge(request("bingbot/2.0", "/"))
	r := browserRequest()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.judge(r)
		}
	})
}

func BenchmarkGuardCrawler(b *testing.B) {
	g := testGuard(b, Handler{Mode: modeEnforce}, serving(mixedRobots))
	g.judge(request("bingbot/2.0", "/"))
	r := browserRequest()
	r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
	if id := uaident.Identify(r.Header.Get("User-Agent")); id.Class != uaident.Search {
		b.Fatal(id)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.judge(r)
		}
	})
}
