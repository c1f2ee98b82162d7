package guard

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestBrowsersCostNoAllocation(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
	g.Judge(requestBy("bingbot/2.0", "/"))
	r := browserRequest()
	if n := testing.AllocsPerRun(100, func() {
		if g.Judge(r) != nil {
			t.Error("a browser was judged")
		}
	}); n != 0 {
		t.Errorf("judging a browser allocates %v times", n)
	}
}

func TestABrowserThroughTheHandlerCostsNoAllocation(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
	g.Judge(requestBy("bingbot/2.0", "/"))
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	serve := func(handler func(*http.Request)) float64 {
		return testing.AllocsPerRun(200, func() { handler(browserRequest()) })
	}
	without := serve(func(r *http.Request) { _ = next.ServeHTTP(nil, r) })
	with := serve(func(r *http.Request) { _ = g.Serve(nil, r, next) })
	if with != without {
		t.Errorf("%v allocations with the guard, %v without", with, without)
	}
}

// browserRequest is a request as Caddy passes it to a handler.
func browserRequest() *http.Request {
	r := requestBy(uaChrome, "/some/page?with=query")
	repl := caddy.NewReplacer()
	return caddyhttp.PrepareRequest(r, repl, httptest.NewRecorder(), browserServer)
}

// browserServer is where it arrives: a guard looks at the routes of a server once.
var browserServer = &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"example.com"}}}}}}

func BenchmarkGuardBrowser(b *testing.B) {
	g := testGuard(b, options{Enforce: true}, serving(mixedRobots))
	g.Judge(requestBy("bingbot/2.0", "/"))
	r := browserRequest()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.Judge(r)
		}
	})
}

func BenchmarkGuardCrawler(b *testing.B) {
	g := testGuard(b, options{Enforce: true}, serving(mixedRobots))
	g.Judge(requestBy("bingbot/2.0", "/"))
	r := browserRequest()
	r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
	if id := uaident.Identify(r.Header.Get("User-Agent")); id.Class != uaident.Search {
		b.Fatal(id)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.Judge(r)
		}
	})
}

// BenchmarkGuardCrawlerTrying is BenchmarkGuardCrawler with a text that is tried: one
// that says the same about the request, and one that does not.
func BenchmarkGuardCrawlerTrying(b *testing.B) {
	for name, tried := range map[string]string{"same": mixedRobots, "differs": "User-agent: *\nDisallow: /some/\n"} {
		b.Run(name, func(b *testing.B) {
			g := testGuard(b, options{Enforce: true, Shadow: serving(tried)}, serving(mixedRobots))
			g.Judge(requestBy("bingbot/2.0", "/"))
			g.readTried()
			r := browserRequest()
			r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					g.Judge(r)
				}
			})
		})
	}
}
