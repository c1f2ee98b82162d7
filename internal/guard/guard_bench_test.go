package guard

import (
	"context"
	"fmt"
	"net"
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
	testThroughTheHandler(t, browserServer)
	testThroughTheHandler(t, namedServer)
}

func testThroughTheHandler(t *testing.T, server *caddyhttp.Server) {
	t.Helper()
	g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
	g.Judge(requestBy("bingbot/2.0", "/"))
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	serve := func(handler func(*http.Request)) float64 {
		return testing.AllocsPerRun(200, func() { handler(browserAt(server)) })
	}
	without := serve(func(r *http.Request) { _ = next.ServeHTTP(nil, r) })
	with := serve(func(r *http.Request) { _ = g.Serve(nil, r, next) })
	if with != without {
		t.Errorf("%v allocations with the guard, %v without", with, without)
	}
}

// browserRequest returns a browser's request as Caddy passes it to a handler.
func browserRequest() *http.Request { return browserAt(browserServer) }

func browserAt(server *caddyhttp.Server) *http.Request {
	return caddyhttp.PrepareRequest(requestBy(uaChrome, "/some/page?with=query"), caddy.NewReplacer(), httptest.NewRecorder(), server)
}

// browserServer is the server of these requests. It is shared because a guard inspects
// the routes of a server once. namedServer is a server that names the host.
var browserServer, namedServer = new(caddyhttp.Server), serverNaming("example.com")

// namedGuard returns a guard with a cached robots.txt for the host that the server
// names.
func namedGuard(b *testing.B) *Guard {
	g := testGuard(b, options{Enforce: true}, serving(mixedRobots))
	r := browserAt(namedServer)
	r.Header.Set("User-Agent", "bingbot/2.0")
	if j := g.Judge(r); j.Version == nil {
		b.Fatal("the rules are unknown")
	}
	return g
}

func BenchmarkGuardBrowser(b *testing.B) {
	g := namedGuard(b)
	r := browserAt(namedServer)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.Judge(r)
		}
	})
}

func BenchmarkGuardCrawler(b *testing.B) {
	g := namedGuard(b)
	r := browserAt(namedServer)
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

// BenchmarkGuardCrawlerAtPort is like BenchmarkGuardCrawler for a site with a port.
func BenchmarkGuardCrawlerAtPort(b *testing.B) {
	g := namedGuard(b)
	r := browserAt(namedServer)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{Port: 8080}))
	r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.Judge(r)
		}
	})
}

// BenchmarkGuardCrawlerTrying is like BenchmarkGuardCrawler with a trial. One shadow
// robots.txt leads to the same verdict, and one does not.
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

// BenchmarkGuardThousand sends requests of a thousand returning browsers or crawlers.
func BenchmarkGuardThousand(b *testing.B) {
	for name, userAgent := range map[string]string{
		"browsers": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.%d.0 Safari/537.36",
		"crawlers": "Mozilla/5.0 (Linux; Android 6.0.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.%d.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	} {
		b.Run(name, func(b *testing.B) {
			g := namedGuard(b)
			requests := make([]*http.Request, 1000)
			for i := range requests {
				requests[i] = browserAt(namedServer)
				requests[i].Header.Set("User-Agent", fmt.Sprintf(userAgent, i))
				g.Judge(requests[i])
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				g.Judge(requests[i%len(requests)])
			}
		})
	}
}

// BenchmarkGuardSites sends requests of a browser or a crawler to a thousand sites in
// turn, so that the data of a site leaves the CPU caches between its requests.
func BenchmarkGuardSites(b *testing.B) {
	const sites = 1000
	hosts := manyHosts(sites)
	server := serverNaming(hosts...)
	for name, userAgent := range map[string]string{"browsers": uaChrome, "crawlers": "bingbot/2.0"} {
		b.Run(name, func(b *testing.B) {
			g := testGuard(b, options{Enforce: true}, serving("User-agent: *\nDisallow: /private/\n\nUser-agent: Googlebot\nDisallow: /google/\n"))
			requests := make([]*http.Request, sites)
			for i, host := range hosts {
				requests[i] = browserAt(server)
				requests[i].Host = host
				requests[i].Header.Set("User-Agent", "bingbot/2.0")
				if j := g.Judge(requests[i]); j == nil || j.Version == nil {
					b.Fatal("the rules are unknown")
				}
				requests[i].Header.Set("User-Agent", userAgent)
				g.Judge(requests[i])
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				g.Judge(requests[i%sites])
			}
		})
	}
}
