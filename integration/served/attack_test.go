package served

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// byName serves a different robots.txt to Googlebot than to other clients.
func byName(t *testing.T, special func(http.ResponseWriter, *http.Request) bool) *harness.Origin {
	t.Helper()
	return harness.NewOrigin(t, "User-agent: *\nDisallow: /\n", func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case special != nil && special(w, r):
		case r.URL.Path == "/robots.txt" && strings.Contains(r.UserAgent(), "Googlebot"):
			fmt.Fprint(w, siteRobots)
		default:
			return false
		}
		return true
	})
}

const siteRobots = "User-agent: *\nDisallow: /private/\n"

// TestReadingsOfOthers fetches the robots.txt of a site under many names and with
// unusual requests. The site serves a different file to Googlebot. Googlebot obeys its
// file and is never blocked.
func TestReadingsOfOthers(t *testing.T) {
	t.Parallel()
	crawls := func(t *testing.T, s *harness.Server) {
		t.Helper()
		if a := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Header("X-Forwarded-For", "66.249.66.1")); a.Body != siteRobots {
			t.Fatalf("Googlebot was served %q", a.Body)
		}
		for i := range 30 {
			if a := harness.Get(t, s.URL(fmt.Sprint("/public/", i)), harness.Googlebot, harness.Header("X-Forwarded-For", "66.249.66.1")); a.Status != 200 {
				t.Fatalf("page %d got %d", i, a.Status)
			}
		}
		if a := harness.Get(t, s.URL("/private/x"), harness.Googlebot, harness.Header("X-Forwarded-For", "66.249.66.1")); a.Status != 403 {
			t.Errorf("a page that Googlebot's file disallows got %d", a.Status)
		}
	}
	const trusted = "servers {\n trusted_proxies static 127.0.0.1/32\n trusted_proxies_strict\n }"
	for _, tc := range []struct {
		name   string
		attack func(s *harness.Server)
	}{
		{"many unknown names", func(s *harness.Server) {
			for i := range 80 {
				harness.Get(t, s.URL("/robots.txt"), fmt.Sprintf("Mozilla/5.0 (compatible; Zork%dbot/1.0; +http://x.test/Googlebot)", i), harness.Header("X-Forwarded-For", "192.0.2.7"))
			}
		}},
		{"the same name with another version", func(s *harness.Server) {
			for i := range 20 {
				harness.Get(t, s.URL("/robots.txt"), "Googlebot/9", harness.Header("X-Forwarded-For", "192.0.2.7"), harness.Header("Accept-Language", fmt.Sprint("x-", i)))
			}
		}},
		{"the same User-Agent from another network", func(s *harness.Server) {
			for i := range 20 {
				harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Header("X-Forwarded-For", "192.0.2.7"), harness.Header("Accept-Language", fmt.Sprint("x-", i)))
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := byName(t, func(w http.ResponseWriter, r *http.Request) bool {
				if echo := r.Header.Get("Accept-Language"); r.URL.Path == "/robots.txt" && echo != "" {
					fmt.Fprintf(w, "User-agent: *\nDisallow: /\n# %s\n", echo)
					return true
				}
				return false
			})
			s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address(), "$GLOBAL", trusted)
			harness.Get(t, s.URL("/x"), harness.Bingbot)
			tc.attack(s)
			crawls(t, s)
		})
	}
	t.Run("the handlers behind the guard change the request", func(t *testing.T) {
		t.Parallel()
		s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n request_header Host backend.internal\n request_header -X-Unused\n reverse_proxy $ORIGIN\n}", "$ORIGIN", byName(t, nil).Address(), "$GLOBAL", trusted)
		harness.Get(t, s.URL("/x"), harness.Bingbot)
		crawls(t, s)
	})
	t.Run("an unsupported content coding", func(t *testing.T) {
		t.Parallel()
		o := byName(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/robots.txt" && r.Header.Get("Accept-Encoding") == "br" {
				w.Header().Set("Content-Encoding", "br")
				fmt.Fprint(w, "packed")
				return true
			}
			return false
		})
		s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
		harness.Get(t, s.URL("/x"), harness.Bingbot)
		harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Header("Accept-Encoding", "br"))
		harness.Eventually(t, "it is held to what the site serves to it", func() bool {
			return harness.Get(t, s.URL("/public/x"), harness.Googlebot).Status == 200 && harness.Get(t, s.URL("/private/x"), harness.Googlebot).Status == 403
		})
	})
	t.Run("a conditional request", func(t *testing.T) {
		t.Parallel()
		o := byName(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/robots.txt" || !strings.Contains(r.UserAgent(), "Googlebot") {
				return false
			}
			w.Header().Set("Etag", `"google"`)
			if r.Header.Get("If-None-Match") == `"google"` {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
			return false
		})
		s := harness.Serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
		harness.Get(t, s.URL("/x"), harness.Bingbot)
		harness.Get(t, s.URL("/robots.txt"), harness.Googlebot)
		for range 3 {
			if a := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Header("If-None-Match", `"google"`)); a.Status != 200 || a.Body != siteRobots {
				t.Fatalf("got %d %q", a.Status, a.Body)
			}
			if a := harness.Get(t, s.URL("/public/x"), harness.Googlebot); a.Status != 200 {
				t.Errorf("a page that Googlebot's file allows got %d", a.Status)
			}
		}
	})
}

// TestNewHostsAtOnce sends concurrent requests for many hosts of a wildcard site. Each
// host has its own file.
func TestNewHostsAtOnce(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprintf(w, "# %s\nUser-agent: *\nDisallow: /private/\n", r.Host)
		}
		return r.URL.Path == "/robots.txt"
	})
	s := harness.Serve(t, "http://*.tenants.test:$PORT {\n robots_guard enforce {\n fetch_wait 5s\n }\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.Address())
	var all sync.WaitGroup
	for client := range 40 {
		all.Go(func() {
			for i := range 5 {
				if a := harness.Get(t, s.URL(fmt.Sprintf("http://t%d-%d.tenants.test/private/x", client, i)), harness.GPTBot); a.Status != 403 {
					t.Errorf("a new host among forty got %d", a.Status)
				}
			}
		})
	}
	all.Wait()
}
