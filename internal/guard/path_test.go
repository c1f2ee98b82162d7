package guard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// costlyRobots is the file of a site with expensive pages.
const costlyRobots = `User-agent: *
Disallow: /search
Disallow: /*?sort=

User-agent: Googlebot
Disallow: /cart

User-agent: CCBot
Disallow: /
`

// failing is a response of a site whose robots.txt is unavailable.
func failing(context.Context) policy.FetchResult {
	return policy.FetchResult{Status: http.StatusServiceUnavailable}
}

// pathRequest returns a browser's request for a target of the site that namedServer
// names.
func pathRequest(target string) *http.Request {
	return caddyhttp.PrepareRequest(requestBy(uaChrome, target), caddy.NewReplacer(), httptest.NewRecorder(), namedServer)
}

func TestPathVerdict(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(costlyRobots))
	r := pathRequest("/")
	r.Header.Set("User-Agent", "bingbot/2.0")
	g.Judge(r) // fetches the file
	for _, tc := range []struct {
		target, token string
		want          PathVerdict
	}{
		{"/", Everybody, PathAllowed},
		{"/search?q=x", Everybody, PathDisallowed},
		{"/%73earch", Everybody, PathDisallowed},
		{"//search", Everybody, PathDisallowed},
		{"/list?sort=price", Everybody, PathDisallowed},
		{"/cart", Everybody, PathAllowed},
		{"/cart", "Googlebot", PathDisallowed},
		{"/search", "Googlebot", PathAllowed},
		{"/", "ccbot", PathDisallowed},
		{"/search", "NewBot", PathDisallowed},
		{"/robots.txt", "CCBot", PathAllowed},
		{"/.well-known/security.txt", "CCBot", PathAllowed},
		{"/.well-known/../search", Everybody, PathDisallowed},
		{"/.well-known/%2e%2e/search", Everybody, PathDisallowed},
		{"/.well-known/acme-challenge/../../search", Everybody, PathDisallowed},
	} {
		if got := g.PathVerdict(pathRequest(tc.target), tc.token); got != tc.want {
			t.Errorf("%s for %s is %s, want %s", tc.target, tc.token, got, tc.want)
		}
	}
	r = pathRequest("/search")
	r.Method = http.MethodOptions
	r.URL.Path = "*"
	r.RequestURI = "*"
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), namedServer)
	if got := g.PathVerdict(r, Everybody); got != PathUnknown {
		t.Errorf("OPTIONS *: %s", got)
	}
}

// TestPathVerdictFetches checks that a path verdict fetches the file of a configured
// host each time that it is due, without waiting, and the file of no other host.
func TestPathVerdictFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := serving("")
		source.answer = func(context.Context) policy.FetchResult {
			time.Sleep(time.Millisecond)
			return policy.FetchResult{Status: http.StatusOK, Body: []byte(costlyRobots)}
		}
		g := testGuard(t, options{}, source)
		ask := func(host string) PathVerdict {
			r := pathRequest("/search")
			r.Host = host
			return g.PathVerdict(r, Everybody)
		}
		for range 100 {
			ask("invented.test")
		}
		synctest.Wait()
		if n := source.reads.Load(); n != 0 {
			t.Errorf("%d fetches for a host that only a client names", n)
		}
		if got := ask("example.com"); got != PathUnknown {
			t.Errorf("the first request got %s", got)
		}
		time.Sleep(time.Second)
		for range 100 {
			if got := ask("example.com"); got != PathDisallowed {
				t.Fatalf("the next got %s", got)
			}
			time.Sleep(time.Second)
		}
		if n := source.reads.Load(); n != 1 {
			t.Errorf("%d fetches in 100 s", n)
		}
		time.Sleep(10 * time.Minute)
		if got := ask("example.com"); got != PathDisallowed {
			t.Errorf("the copy that is due got %s", got)
		}
		time.Sleep(time.Second)
		if n := source.reads.Load(); n != 2 {
			t.Errorf("%d fetches once the copy was due", n)
		}
		synctest.Wait()
		source.answer = failing
		time.Sleep(25 * time.Hour)
		ask("example.com")
		synctest.Wait()
		if got := ask("example.com"); got != PathDisallowed {
			t.Errorf("while the file fails: %s, want what the last good copy says", got)
		}
	})
}

// TestPathVerdictOfAClosedSite checks the path verdict if an unavailable file closes
// the site. The rules about the path are unknown then.
func TestPathVerdictOfAClosedSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := serving("")
		source.answer = failing
		g := testGuard(t, options{Enforce: true, Unreachable: policy.DisallowAll}, source)
		for range 3 {
			if got := g.PathVerdict(pathRequest("/search"), Everybody); got != PathUnknown {
				t.Errorf("got %s", got)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
	})
}

// TestPathIsOffered checks that the placeholder and the variable are set only if the
// configuration uses them.
func TestPathIsOffered(t *testing.T) {
	for _, asks := range []bool{false, true} {
		g := testGuard(t, options{}, serving(costlyRobots))
		g.UsesPathVerdict = &asks
		r := pathRequest("/")
		r.Header.Set("User-Agent", "bingbot/2.0")
		g.Judge(r)
		r = pathRequest("/search")
		var matched PathVerdict
		var value string
		next := caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
			matched = PathVerdictOf(r, Everybody)
			value = r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer).ReplaceAll("{"+PathPlaceholder+"}", "empty")
			return nil
		})
		if err := g.Serve(httptest.NewRecorder(), r, next); err != nil {
			t.Fatal(err)
		}
		want, wantValue := PathUnknown, "empty"
		if asks {
			want, wantValue = PathDisallowed, "disallowed"
		}
		if matched != want || value != wantValue {
			t.Errorf("asked for: %t: got %s and %q", asks, matched, value)
		}
	}
}

// TestPeopleOnDisallowedPaths checks that browser requests for pages that are
// disallowed for all crawlers are counted once each, and no other requests.
func TestPeopleOnDisallowedPaths(t *testing.T) {
	asks := true
	g := testGuard(t, options{}, serving(costlyRobots))
	g.UsesPathVerdict = &asks
	visit := func(userAgent, target, token string) {
		r := caddyhttp.PrepareRequest(requestBy(userAgent, target), caddy.NewReplacer(), httptest.NewRecorder(), namedServer)
		next := caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
			PathVerdictOf(r, token)
			PathVerdictOf(r, token)
			return nil
		})
		if err := g.Serve(httptest.NewRecorder(), r, next); err != nil {
			t.Fatal(err)
		}
	}
	visit("bingbot/2.0", "/", Everybody)
	for range 3 {
		visit(uaChrome, "/search", Everybody)
	}
	visit(uaChrome, "/", Everybody)
	visit(uaChrome, "/", "CCBot")
	visit("bingbot/2.0", "/search", Everybody)
	visit("", "/search", Everybody)
	var got uint64
	for _, site := range g.state.Ledger.Snapshot().Sites {
		if site.Name != "example.com" || len(site.Visits) != 1 {
			t.Errorf("%s has %v", site.Name, site.Visits)
			continue
		}
		now := time.Now()
		got += site.SumVisits(ledger.VisitsToDisallowed, ledger.Hours, now.Add(-time.Hour), now)
	}
	if got != 3 {
		t.Errorf("%d requests of people are counted, want 3", got)
	}
}

func TestPathVerdictCostsNoAllocation(t *testing.T) {
	g := testGuard(t, options{}, serving(costlyRobots))
	r := pathRequest("/")
	r.Header.Set("User-Agent", "bingbot/2.0")
	g.Judge(r)
	r = pathRequest("/list/page?x=1")
	if n := testing.AllocsPerRun(100, func() { g.PathVerdict(r, Everybody) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPathVerdict(b *testing.B) {
	g := testGuard(b, options{}, serving(costlyRobots))
	r := pathRequest("/")
	r.Header.Set("User-Agent", "bingbot/2.0")
	g.Judge(r)
	r = pathRequest("/list/page?x=1")
	b.ReportAllocs()
	for b.Loop() {
		g.PathVerdict(r, Everybody)
	}
}

// BenchmarkPathOffered measures a browser's request through the handler, with and
// without use of the path verdict.
func BenchmarkPathOffered(b *testing.B) {
	for name, asks := range map[string]bool{"unused": false, "used": true} {
		b.Run(name, func(b *testing.B) {
			g := namedGuard(b)
			g.UsesPathVerdict = &asks
			next := caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
				if asks {
					PathVerdictOf(r, Everybody)
				}
				return nil
			})
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				_ = g.Serve(w, caddyhttp.PrepareRequest(requestBy(uaChrome, "/list/page?x=1"), caddy.NewReplacer(), w, namedServer), next)
			}
		})
	}
}
