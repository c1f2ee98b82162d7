package neighbours

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// site is the part of the site after the tested handlers.
const site = `
	respond /robots.txt "User-agent: *
Disallow: /private/
"
	respond "page {path}"
`

// before is the begin of the warning about a handler in the wrong order.
const before = " comes before robots_guard"

// Messages of the self-test about a robots.txt that outsiders cannot fetch.
const (
	refused = "self-test: robots.txt is refused"
	toLogin = "self-test: robots.txt redirects to another page"
)

// serve runs a site with the given handlers before those of site.
func serve(t *testing.T, order, handlers string, replace ...string) *harness.Server {
	t.Helper()
	return harness.Serve(t, "http://a.test:$PORT {\n"+handlers+"\nheader >X-Verdict {http.robots_guard.verdict}\n"+site+"}", append(replace, "$GLOBAL", order)...)
}

// warned checks that the server has logged a warning, or has not.
func warned(t *testing.T, s *harness.Server, want bool, text string) {
	t.Helper()
	if !want {
		if strings.Contains(s.Logs.String(), text) {
			t.Errorf("an unexpected warning: %q", text)
		}
		return
	}
	harness.Eventually(t, "the log says "+text, func() bool { return strings.Contains(s.Logs.String(), text) })
}

// TestCache fills a cache as a browser, behind and before the guard. A disallowed
// crawler gets the cached page only if the cache is before the guard, and the server
// warns about that.
func TestCache(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, order, handlers string
		leaks, warns          bool
	}{
		{"in the usual order", "", "cache\nrobots_guard enforce", false, false},
		{"first in the order", "order cache first", "cache\nrobots_guard enforce", true, true},
		{"before the guard in a route", "", "route {\ncache\nrobots_guard enforce\n}", true, true},
		{"behind the guard in a route", "", "route {\nrobots_guard enforce\ncache\n}", false, false},
		{"before the guard for browsers only", "order cache first", "@people not robots_crawler crawler search\ncache @people\nrobots_guard enforce", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.order, test.handlers)
			s.Warm("/")
			harness.Get(t, s.URL("/private/x"), harness.Firefox)
			if a := harness.Get(t, s.URL("/private/x"), harness.Firefox); a.Header.Get("X-Cache") != "hit" || a.Body != "page /private/x" {
				t.Fatalf("the page is not cached: %+v", a)
			}
			counted := func() float64 { return s.Metrics().Sum(harness.RequestsMetric, `verdict="disallowed"`) }
			earlier, want := counted(), 403
			if test.leaks {
				want = 200
			}
			if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != want {
				t.Errorf("a disallowed crawler gets %d, want %d", a.Status, want)
			}
			if n := counted() - earlier; (n == 1) == test.leaks {
				t.Errorf("counted %v requests", n)
			}
			// The response to a blocked request is not cached for other clients.
			harness.Get(t, s.URL("/private/y"), harness.Bingbot)
			if a := harness.Get(t, s.URL("/private/y"), harness.Firefox); a.Status != 200 {
				t.Errorf("a browser gets the response to a crawler: %d", a.Status)
			}
			warned(t, s, test.warns, "cache"+before)
		})
	}
}

// TestLimiter tests a rate limiter behind the guard and before it. Behind the guard it
// counts by crawler and does not count blocked requests. Before the guard the crawler
// is unknown.
func TestLimiter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, order string
		status      int // for the first page of GPTBot
	}{
		{"in the usual order", "", 200},
		{"before the guard", "order rate_limit before robots_guard", 429},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.order, "robots_guard enforce\n@some not path /robots.txt /\nrate_limit @some {http.robots_guard.crawler}")
			s.Warm("/")
			for range 3 {
				harness.Get(t, s.URL("/private/x"), harness.Bingbot)
			}
			harness.Visits(t, s, []harness.Visit{
				{harness.GPTBot, "/p", test.status, ""},
				{harness.Bingbot, "/p", test.status, ""},
			})
		})
	}
}

// TestLimitOfPaths limits each address, but only for pages that robots.txt disallows.
func TestLimitOfPaths(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "robots_guard enforce\n@costly robots_disallowed *\nrate_limit @costly {client_ip}")
	s.Warm("/")
	for i, want := range []int{200, 200, 200, 429, 429} {
		if a := harness.Get(t, s.URL("/private/x"), harness.Firefox); a.Status != want {
			t.Errorf("request %d: status %d, want %d", i+1, a.Status, want)
		}
	}
	for range 5 {
		harness.Visits(t, s, []harness.Visit{{harness.Firefox, "/p", 200, ""}, {harness.Bingbot, "/p", 200, ""}, {harness.Bingbot, "/private/x", 403, ""}})
	}
}

// TestFirewall tests a firewall that rejects User-Agents with the word robots, on
// either side of the guard. The firewall also rejects the guard's own request, unless
// /robots.txt is exempt or a file is the source. The self-test warns whenever crawlers
// cannot fetch the file.
func TestFirewall(t *testing.T) {
	t.Parallel()
	file := harness.Files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /private/\n"}) + "/robots.txt"
	const first, behind = "order coraza_waf first", "order coraza_waf after robots_guard"
	for _, test := range []struct {
		name, order, handlers string
		reads, warns          bool
	}{
		{"before", first, "coraza_waf robot\nrobots_guard enforce", false, true},
		{"behind", behind, "coraza_waf robot\nrobots_guard enforce", false, true},
		{"before, with robots.txt exempt", first, "@rest not path /robots.txt\ncoraza_waf @rest robot\nrobots_guard enforce", true, false},
		{"behind, with robots.txt exempt", behind, "@rest not path /robots.txt\ncoraza_waf @rest robot\nrobots_guard enforce", true, false},
		{"before, with a file as source", first, "coraza_waf robot\nrobots_guard enforce {\nsource file $FILE\n}", true, true},
		{"before, for other User-Agents", first, "coraza_waf sqlmap\nrobots_guard enforce", true, false},
		{"by respond", "", "robots_guard enforce\n@bots header_regexp User-Agent (?i)robots\nrespond @bots 403", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.order, test.handlers, "$FILE", file)
			s.Warm("/")
			want := 200
			if test.reads {
				want = 403
			}
			harness.Visits(t, s, []harness.Visit{
				{harness.Bingbot, "/private/x", want, ""},
				{harness.Bingbot, "/p", 200, "page"},
				{harness.Firefox, "/private/x", 200, "page"},
			})
			warned(t, s, test.warns, refused)
		})
	}
}
