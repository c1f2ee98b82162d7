package sites

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const (
	siteRobots  = "User-agent: *\nDisallow: /private/\n"
	otherRobots = "User-agent: *\nDisallow: /public/\n"
)

// TestHostSpellings asks for a site by every spelling that Caddy routes to it,
// before an origin that compares hosts byte by byte. Whatever comes first, an
// obedient crawler is never blocked, and no spelling opens what is forbidden.
func TestHostSpellings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, canonical string }{
		{"clients send the port", "shop.test:$PORT"},
		{"clients send no port", "shop.test"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var exact atomic.Value // the host that the origin knows
			o := harness.NewOrigin(t, otherRobots, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/robots.txt" || r.Host != exact.Load() {
					return false
				}
				fmt.Fprint(w, siteRobots)
				return true
			})
			s := harness.Serve(t, "http://shop.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
			port := s.Port
			canonical := strings.ReplaceAll(tc.canonical, "$PORT", port)
			exact.Store(canonical)
			spellings := []string{"SHOP.test", "Shop.Test:" + port, "shop.test:1", "shop.test:65535", "shop.test:0" + port, "shop.test:", "sHOP.tEST:80", "[shop.test]", "[Shop.test]:" + port, "[shop.test", "shop.test]"}
			for _, host := range spellings { // they come first, as a crawler and as a reader
				harness.Get(t, s.URL("http://shop.test/public/x"), harness.Bingbot, harness.Host(host))
				harness.Get(t, s.URL("http://shop.test/robots.txt"), harness.Bingbot, harness.Host(host))
			}
			if a := harness.Get(t, s.URL("http://shop.test/robots.txt"), harness.Googlebot, harness.Host(canonical)); a.Body != siteRobots {
				t.Fatalf("an obedient crawler read %q", a.Body)
			}
			for i := range 40 {
				if a := harness.Get(t, s.URL(fmt.Sprint("http://shop.test/public/", i)), harness.Googlebot, harness.Host(canonical)); a.Status != 200 {
					t.Fatalf("page %d: an obedient crawler got %d %q", i, a.Status, a.Body)
				}
				harness.Get(t, s.URL("http://shop.test/robots.txt"), harness.Bingbot, harness.Host(spellings[i%len(spellings)]))
			}
			if a := harness.Get(t, s.URL("http://shop.test/private/x"), harness.GPTBot, harness.Host(canonical)); a.Status != 403 {
				t.Errorf("another crawler got %d for a forbidden page", a.Status)
			}
			for _, host := range spellings {
				if a := harness.Get(t, s.URL("http://shop.test/private/x"), harness.GPTBot, harness.Host(host)); a.Status != 403 {
					t.Errorf("%s opened a forbidden page: %d", host, a.Status)
				}
			}
		})
	}
}

// TestPortsAreSites serves one host at two ports with opposite rules. The port in
// a request makes no difference.
func TestPortsAreSites(t *testing.T) {
	t.Parallel()
	closed := harness.NewOrigin(t, "User-agent: *\nDisallow: /\n", nil)
	open := harness.NewOrigin(t, "User-agent: *\nDisallow:\n", nil)
	port, port2 := harness.FreePort(t), harness.FreePort(t)
	for _, tc := range []struct{ name, site, sites string }{
		{"named", "site.test", "http://site.test:%[1]s {\n robots_guard enforce\n reverse_proxy %[3]s\n}\nhttp://site.test:%[2]s {\n robots_guard enforce\n reverse_proxy %[4]s\n}"},
		{"catch-all", "any.test", "http://:%[1]s {\n robots_guard enforce\n reverse_proxy %[3]s\n}\nhttp://:%[2]s {\n robots_guard enforce\n reverse_proxy %[4]s\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := harness.Serve(t, fmt.Sprintf(tc.sites, port, port2, closed.Address(), open.Address()))
			s.WaitFor("127.0.0.1:" + port)
			s.WaitFor("127.0.0.1:" + port2)
			for round := range 3 {
				for _, host := range []string{tc.site, tc.site + ":" + port2, tc.site + ":" + port, strings.ToUpper(tc.site) + ":1"} {
					at := func(port string) int {
						return harness.Get(t, "http://"+tc.site+":"+port+"/x", harness.Bingbot, harness.Host(host)).Status
					}
					if status := at(port); status != 403 {
						t.Errorf("round %d: the closed port with Host %s answered %d", round, host, status)
					}
					if status := at(port2); status != 200 {
						t.Errorf("round %d: the open port with Host %s answered %d", round, host, status)
					}
				}
			}
		})
	}
}

// TestTrailingDotReachesTheCatchAll: Caddy takes main.test. for another host than
// main.test. Neither's rules become the other's.
func TestTrailingDotReachesTheCatchAll(t *testing.T) {
	t.Parallel()
	main := harness.NewOrigin(t, siteRobots, nil)
	rest := harness.NewOrigin(t, otherRobots, nil)
	s := harness.Serve(t, "http://main.test:$PORT {\n robots_guard enforce\n reverse_proxy $MAIN\n}\nhttp://:$PORT {\n robots_guard enforce\n reverse_proxy $REST\n}",
		"$MAIN", main.Address(), "$REST", rest.Address())
	for range 3 {
		for host, forbidden := range map[string]string{
			"main.test.": "/public/x", "main.test.:" + s.Port: "/public/x", "MAIN.test.": "/public/x",
			"main.test": "/private/x", "main.test:" + s.Port: "/private/x", "Main.Test": "/private/x",
		} {
			for _, path := range []string{"/public/x", "/private/x"} {
				want := 200
				if path == forbidden {
					want = 403
				}
				if a := harness.Get(t, s.URL("http://main.test"+path), harness.GPTBot, harness.Host(host)); a.Status != want {
					t.Errorf("%s of %s got %d, want %d", path, host, a.Status, want)
				}
			}
		}
	}
}

// TestColdHostsAreJudged asks for a new port, subdomain, host or X-Forwarded-Host
// each time, of an origin that is slower than fetch_wait. What the known hosts of
// the site share judges them, also for a library that it names.
func TestColdHostsAreJudged(t *testing.T) {
	t.Parallel()
	robots := "User-agent: *\nDisallow: /private/\n\nUser-agent: python-requests\nDisallow: /private/\n"
	o := harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			time.Sleep(300 * time.Millisecond)
		}
		return false
	})
	s := harness.Serve(t, `http://named.test:$PORT, http://*.wild.test:$PORT {
		robots_guard enforce {
			fetch_wait 100ms
		}
		reverse_proxy $ORIGIN
	}
	http://:$PORT {
		robots_guard enforce {
			fetch_wait 100ms
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address(), "$GLOBAL", "servers {\n trusted_proxies static 127.0.0.1/32\n }")
	hosts := []string{"named.test"}
	for i := range 8 {
		hosts = append(hosts, fmt.Sprintf("known%d.wild.test", i), fmt.Sprintf("known%d.test", i))
	}
	for _, host := range hosts {
		harness.Eventually(t, host+" is known", func() bool {
			return harness.Get(t, s.URL("http://"+host+"/private/x"), harness.Bingbot, harness.Host(host)).Status == 403
		})
	}
	const python = "python-requests/2.32.3"
	for i := range 20 {
		for _, tc := range []struct {
			name, userAgent string
			change          func(*http.Request)
		}{
			{"a new port", harness.GPTBot, harness.Host(fmt.Sprint("named.test:", 2000+i))},
			{"a new subdomain", harness.GPTBot, harness.Host(fmt.Sprintf("s%d.wild.test", i))},
			{"a new host", harness.GPTBot, harness.Host(fmt.Sprintf("h%d.test", i))},
			{"a new X-Forwarded-Host", harness.GPTBot, func(r *http.Request) {
				r.Host = "named.test"
				r.Header.Set("X-Forwarded-Host", fmt.Sprintf("f%d.test", i))
			}},
			{"a new subdomain and a named library", python, harness.Host(fmt.Sprintf("l%d.wild.test", i))},
			{"a new host and a named library", python, harness.Host(fmt.Sprintf("l%d.test", i))},
		} {
			if a := harness.Get(t, s.URL("http://named.test/private/x"), tc.userAgent, tc.change); a.Status != 403 {
				t.Errorf("%s, number %d: got %d", tc.name, i, a.Status)
			}
		}
	}
	if a := harness.Get(t, s.URL("http://named.test/public/x"), harness.GPTBot, harness.Host("p.wild.test")); a.Status != 200 {
		t.Errorf("an allowed page of a cold host got %d", a.Status)
	}
}

// TestHostsThatFailAreJudged: a host whose robots.txt cannot be read is judged by
// the text that the known hosts of its site share.
func TestHostsThatFailAreJudged(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, siteRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if fails := r.URL.Path == "/robots.txt" && !strings.HasPrefix(r.Host, "known"); fails {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	})
	s := harness.Serve(t, "http://*.wild.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	visits := []harness.Visit{}
	for i := range 8 {
		visits = append(visits,
			harness.Visit{harness.Bingbot, fmt.Sprintf("http://known%d.wild.test/private/x", i), 403, ""},
			harness.Visit{harness.Bingbot, fmt.Sprintf("http://failing%d.wild.test/public/x", i), 200, ""})
	}
	harness.Visits(t, s, append(visits, []harness.Visit{
		{harness.Bingbot, "http://failing.wild.test/private/x", 403, ""},
		{harness.Bingbot, "http://failing.wild.test/private/x", 403, ""},
		{harness.Bingbot, "http://failing.wild.test/public/x", 200, ""},
	}...))
}

// TestFirstTenantSaysNothing: the first tenants that are known, who forbid all, keep nobody
// from those whose robots.txt is slow or cannot be read.
func TestFirstTenantSaysNothing(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /\n", func(w http.ResponseWriter, r *http.Request) bool {
		closed, robots := strings.HasPrefix(r.Host, "closed"), r.URL.Path == "/robots.txt"
		switch {
		case robots && strings.HasPrefix(r.Host, "slow"):
			time.Sleep(400 * time.Millisecond)
			_, _ = w.Write([]byte(siteRobots))
		case robots && !closed:
			w.WriteHeader(http.StatusInternalServerError)
		}
		return robots && !closed
	})
	s := harness.Serve(t, "http://*.tenants.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	harness.Visits(t, s, []harness.Visit{
		{harness.Bingbot, "http://closed.tenants.test/x", 403, ""},
		{harness.Bingbot, "http://closed-too.tenants.test/x", 403, ""},
		{harness.Bingbot, "http://slow.tenants.test/x", 200, ""},
		{harness.Bingbot, "http://failing.tenants.test/x", 200, ""},
	})
}

// TestColdTenant has a catch-all site whose hosts have rules of their own: no
// host is judged by the rules of another.
func TestColdTenant(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		name, _, _ := strings.Cut(r.Host, ".")
		if r.URL.Path == "/robots.txt" {
			fmt.Fprintf(w, "User-agent: *\nDisallow: /%s/\n", name)
		}
		return r.URL.Path == "/robots.txt"
	})
	s := harness.Serve(t, "http://*.tenants.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	for _, name := range []string{"a", "b", "c"} {
		harness.Visits(t, s, []harness.Visit{
			{harness.Bingbot, "http://" + name + ".tenants.test/" + name + "/x", 403, ""},
			{harness.Bingbot, "http://" + name + ".tenants.test/other/x", 200, ""},
		})
	}
}
