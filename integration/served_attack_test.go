package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// byName serves another robots.txt to Googlebot than to all others.
func byName(t *testing.T, special func(http.ResponseWriter, *http.Request) bool) *origin {
	t.Helper()
	return newOrigin(t, "User-agent: *\nDisallow: /\n", func(w http.ResponseWriter, r *http.Request) bool {
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

// TestReadingsOfOthers reads the robots.txt under many names and in odd ways, of
// a site that has a text of its own for Googlebot. Googlebot, which keeps to that,
// is never blocked for it.
func TestReadingsOfOthers(t *testing.T) {
	t.Parallel()
	crawls := func(t *testing.T, s *server) {
		t.Helper()
		if a := get(t, s.url("/robots.txt"), googlebot, header("X-Forwarded-For", "66.249.66.1")); a.body != siteRobots {
			t.Fatalf("Googlebot was served %q", a.body)
		}
		for i := range 30 {
			if a := get(t, s.url(fmt.Sprint("/public/", i)), googlebot, header("X-Forwarded-For", "66.249.66.1")); a.status != 200 {
				t.Fatalf("page %d got %d", i, a.status)
			}
		}
		if a := get(t, s.url("/private/x"), googlebot, header("X-Forwarded-For", "66.249.66.1")); a.status != 403 {
			t.Errorf("what its text forbids got %d", a.status)
		}
	}
	const trusted = "servers {\n trusted_proxies static 127.0.0.1/32\n trusted_proxies_strict\n }"
	for _, tc := range []struct {
		name   string
		attack func(s *server)
	}{
		{"many invented names", func(s *server) {
			for i := range 80 {
				get(t, s.url("/robots.txt"), fmt.Sprintf("Mozilla/5.0 (compatible; Zork%dbot/1.0; +http://x.test/Googlebot)", i), header("X-Forwarded-For", "192.0.2.7"))
			}
		}},
		{"its name with another version", func(s *server) {
			for i := range 20 {
				get(t, s.url("/robots.txt"), "Googlebot/9", header("X-Forwarded-For", "192.0.2.7"), header("Accept-Language", fmt.Sprint("x-", i)))
			}
		}},
		{"its very User-Agent from another network", func(s *server) {
			for i := range 20 {
				get(t, s.url("/robots.txt"), googlebot, header("X-Forwarded-For", "192.0.2.7"), header("Accept-Language", fmt.Sprint("x-", i)))
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
			s := serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.address(), "$GLOBAL", trusted)
			get(t, s.url("/x"), bingbot)
			tc.attack(s)
			crawls(t, s)
		})
	}
	t.Run("the handlers behind the guard change the request", func(t *testing.T) {
		t.Parallel()
		s := serve(t, "http://a.test:$PORT {\n robots_guard enforce\n request_header Host backend.internal\n request_header -X-Unused\n reverse_proxy $ORIGIN\n}", "$ORIGIN", byName(t, nil).address(), "$GLOBAL", trusted)
		get(t, s.url("/x"), bingbot)
		crawls(t, s)
	})
	t.Run("in a coding that is not unpacked", func(t *testing.T) {
		t.Parallel()
		o := byName(t, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/robots.txt" && r.Header.Get("Accept-Encoding") == "br" {
				w.Header().Set("Content-Encoding", "br")
				fmt.Fprint(w, "packed")
				return true
			}
			return false
		})
		s := serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.address())
		get(t, s.url("/x"), bingbot)
		get(t, s.url("/robots.txt"), googlebot, header("Accept-Encoding", "br"))
		eventually(t, "it is held to what the site serves to it", func() bool {
			return get(t, s.url("/public/x"), googlebot).status == 200 && get(t, s.url("/private/x"), googlebot).status == 403
		})
	})
	t.Run("after 304", func(t *testing.T) {
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
		s := serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.address())
		get(t, s.url("/x"), bingbot)
		get(t, s.url("/robots.txt"), googlebot)
		for range 3 {
			if a := get(t, s.url("/robots.txt"), googlebot, header("If-None-Match", `"google"`)); a.status != 304 {
				t.Fatalf("got %d", a.status)
			}
			if a := get(t, s.url("/public/x"), googlebot); a.status != 200 {
				t.Errorf("a page that its text allows got %d", a.status)
			}
		}
	})
	t.Run("each client has an upstream of its own", func(t *testing.T) {
		t.Parallel()
		first := newOrigin(t, "User-agent: *\nDisallow: /a/\n", nil)
		second := newOrigin(t, "User-agent: *\nDisallow: /b/\n", nil)
		s := serve(t, "http://a.test:$PORT {\n robots_guard enforce\n reverse_proxy $FIRST $SECOND {\n lb_policy client_ip_hash\n }\n}",
			"$FIRST", first.address(), "$SECOND", second.address(), "$GLOBAL", trusted)
		for i := range 20 {
			from := header("X-Forwarded-For", fmt.Sprintf("203.0.%d.7", i))
			allowed, forbidden := "/b/x", "/a/x"
			if strings.Contains(get(t, s.url("/robots.txt"), bingbot, from).body, "/b/") {
				allowed, forbidden = forbidden, allowed
			}
			if a, b := get(t, s.url(allowed), bingbot, from), get(t, s.url(forbidden), bingbot, from); a.status != 200 || b.status != 403 {
				t.Errorf("network %d: %d for what its text allows, %d for what it forbids", i, a.status, b.status)
			}
		}
	})
}

// TestNewHostsAtOnce asks for many hosts of a wildcard site at the same time, each
// of which has a file of its own.
func TestNewHostsAtOnce(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprintf(w, "# %s\nUser-agent: *\nDisallow: /private/\n", r.Host)
		}
		return r.URL.Path == "/robots.txt"
	})
	s := serve(t, "http://*.tenants.test:$PORT {\n robots_guard enforce {\n fetch_wait 5s\n }\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.address())
	var all sync.WaitGroup
	for client := range 40 {
		all.Go(func() {
			for i := range 5 {
				if a := get(t, s.url(fmt.Sprintf("http://t%d-%d.tenants.test/private/x", client, i)), gptBot); a.status != 403 {
					t.Errorf("a new host among forty got %d", a.status)
				}
			}
		})
	}
	all.Wait()
}

// TestLongPorts spells the port of a site with many zeros.
func TestLongPorts(t *testing.T) {
	t.Parallel()
	var host string
	o := newOrigin(t, otherRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" && r.Host == host {
			fmt.Fprint(w, siteRobots)
			return true
		}
		return false
	})
	s := serve(t, "http://shop.test:$PORT {\n robots_guard enforce\n reverse_proxy $ORIGIN\n}", "$ORIGIN", o.address())
	host = "shop.test:" + s.port
	get(t, s.url("http://shop.test/"), bingbot)
	for range 5 {
		get(t, s.url("http://shop.test/private/x"), gptBot, hostOf("shop.test:"+strings.Repeat("0", 300)+s.port))
	}
	if a := get(t, s.url("http://shop.test/private/x"), gptBot, hostOf("shop.test:"+strings.Repeat("0", 300)+s.port)); a.status != 403 {
		t.Errorf("got %d", a.status)
	}
}
