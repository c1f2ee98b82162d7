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
	siteRobots  = "User-agent: *\nDisallow: /private/\nDisallow: /never/\n"
	otherRobots = "User-agent: *\nDisallow: /public/\nDisallow: /never/\n"
)

// TestHostSpellings requests a site by every spelling of the host that Caddy routes to
// it. The origin compares hosts byte by byte and has a different robots.txt for all
// other spellings. Whichever request is first, a crawler that obeys is never blocked,
// and no spelling gives access to a page that both files disallow.
func TestHostSpellings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, canonical string }{
		{"clients send the port", "shop.test:$PORT"},
		{"clients send no port", "shop.test"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var exact atomic.Value // the host for which the origin has its own file
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
			for _, host := range spellings { // first requests, as a crawler for a page and for robots.txt
				harness.Get(t, s.URL("http://shop.test/public/x"), harness.Bingbot, harness.Host(host))
				harness.Get(t, s.URL("http://shop.test/robots.txt"), harness.Bingbot, harness.Host(host))
			}
			if a := harness.Get(t, s.URL("http://shop.test/robots.txt"), harness.Googlebot, harness.Host(canonical)); a.Body != siteRobots {
				t.Fatalf("an obedient crawler fetched %q", a.Body)
			}
			for i := range 40 {
				if a := harness.Get(t, s.URL(fmt.Sprint("http://shop.test/public/", i)), harness.Googlebot, harness.Host(canonical)); a.Status != 200 {
					t.Fatalf("page %d: an obedient crawler got %d %q", i, a.Status, a.Body)
				}
				harness.Get(t, s.URL("http://shop.test/robots.txt"), harness.Bingbot, harness.Host(spellings[i%len(spellings)]))
			}
			if a := harness.Get(t, s.URL("http://shop.test/never/x"), harness.GPTBot, harness.Host(canonical)); a.Status != 403 {
				t.Errorf("another crawler got %d for a disallowed page", a.Status)
			}
			for _, host := range spellings {
				if a := harness.Get(t, s.URL("http://shop.test/never/x"), harness.GPTBot, harness.Host(host)); a.Status != 403 {
					t.Errorf("after %s a disallowed page got %d", host, a.Status)
				}
			}
		})
	}
}

// TestPortsAreSites serves one host at two ports with opposite rules. The port in a
// Host field makes no difference.
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
						t.Errorf("round %d: the closed port with Host %s returned %d", round, host, status)
					}
					if status := at(port2); status != 200 {
						t.Errorf("round %d: the open port with Host %s returned %d", round, host, status)
					}
				}
			}
		})
	}
}

// TestTenantsAreIndependent checks that tenants that disallow everything do not affect
// other tenants whose robots.txt is slow or unavailable.
func TestTenantsAreIndependent(t *testing.T) {
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
