package managed

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestOneLine checks that one directive is enough for a static site, a proxied site, a
// site without robots.txt and a site that generates robots.txt, including one behind a
// rewrite to a script. The guard enforces the result.
func TestOneLine(t *testing.T) {
	t.Parallel()
	dynamic := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		isRobots := r.URL.Path == "/robots.txt" || r.URL.RequestURI() == "/index.php?robots=1"
		if isRobots {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprintf(w, "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\nSitemap: http://%s/wp-sitemap.xml\n", r.Host)
		}
		return isRobots
	})
	missing := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		isRobots := r.URL.Path == "/robots.txt" || r.URL.RequestURI() == "/index.php?robots=1"
		if isRobots {
			http.Error(w, "<!doctype html><title>Not found</title>", http.StatusNotFound)
		}
		return isRobots
	})
	static := harness.Files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /wp-admin/\n", "page": "page", "wp-admin/x": "x"})
	s := harness.Serve(t, `(managed) {
		robots_guard enforce
		robots_txt {
			disallow ai_training
		}
	}
	http://dynamic.test:$PORT {
		import managed
		reverse_proxy $DYNAMIC
	}
	http://missing.test:$PORT {
		import managed
		reverse_proxy $MISSING
	}
	http://script.test:$PORT {
		import managed
		rewrite /robots.txt /index.php?robots=1
		reverse_proxy $DYNAMIC
	}
	http://missing-script.test:$PORT {
		import managed
		rewrite /robots.txt /index.php?robots=1
		reverse_proxy $MISSING
	}
	http://static.test:$PORT {
		import managed
		root $STATIC
		file_server
	}`, "$DYNAMIC", dynamic.Address(), "$MISSING", missing.Address(), "$STATIC", static)
	for _, host := range []string{"dynamic.test", "missing.test", "script.test", "missing-script.test", "static.test"} {
		text := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host(host))
		if text.Status != 200 || !strings.Contains(text.Body, "User-agent: GPTBot\n") || !strings.Contains(text.Body, "User-agent: Google-Extended\n") {
			t.Errorf("%s serves %d %q", host, text.Status, text.Body)
		}
		if strings.Contains(text.Body, "/wp-admin/") != !strings.HasPrefix(host, "missing") {
			t.Errorf("%s lacks its base, or has an unexpected one: %q", host, text.Body)
		}
		for agent, want := range map[string]int{harness.GPTBot: 403, harness.Googlebot: 200, harness.Firefox: 200} {
			if a := harness.Get(t, s.URL("/page"), agent, harness.Host(host)); a.Status != want {
				t.Errorf("%s at %s got %d %q", agent, host, a.Status, a.Body)
			}
		}
	}
}

// TestConditions checks that the responses support conditional, range and HEAD
// requests.
func TestConditions(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_txt {
			base none
			disallow GPTBot
			sitemap https://{host}/s.xml
			max_age 10m
		}
	}`)
	whole := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot)
	if whole.Status != 200 || !strings.HasSuffix(whole.Body, "Sitemap: https://a.test/s.xml\n") || whole.Header.Get("Cache-Control") != "max-age=600" {
		t.Fatalf("got %d %v %q", whole.Status, whole.Header, whole.Body)
	}
	etag, modified := whole.Header.Get("ETag"), whole.Header.Get("Last-Modified")
	if modified == "" {
		t.Error("no Last-Modified")
	}
	for _, tc := range []struct {
		what   string
		change func(*http.Request)
		status int
		body   string
	}{
		{"HEAD", harness.Method(http.MethodHead), 200, ""},
		{"the same ETag", harness.Header("If-None-Match", etag), 304, ""},
		{"another ETag", harness.Header("If-None-Match", `"x"`), 200, whole.Body},
		{"a date only", harness.Header("If-Modified-Since", modified), 200, whole.Body},
		{"a range", harness.Header("Range", "bytes=0-9"), 206, whole.Body[:10]},
		{"POST passes", harness.Method(http.MethodPost), 200, ""},
	} {
		if a := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, tc.change); a.Status != tc.status || a.Body != tc.body {
			t.Errorf("%s: got %d %q", tc.what, a.Status, a.Body)
		}
	}
}

// TestBaseFails checks that a failing base never makes the robots.txt stricter. The
// last good base is used, even after a reload. Without one the site's own response
// passes.
func TestBaseFails(t *testing.T) {
	t.Parallel()
	for what, answer := range map[string]func(http.ResponseWriter){
		"500":        func(w http.ResponseWriter) { http.Error(w, "User-agent: *\nDisallow: /\n", 500) },
		"a web page": func(w http.ResponseWriter) { fmt.Fprint(w, "<!doctype html><html><body>app</body></html>") },
		"reset":      func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var fails atomic.Bool
			o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.URL.Path != "/robots.txt":
					return false
				case fails.Load():
					answer(w)
				default:
					w.Header().Set("Cache-Control", "no-store") // makes the guard refetch after a minute
					fmt.Fprint(w, "User-agent: *\nDisallow: /p\n")
				}
				return true
			})
			fails.Store(true)
			s := harness.ServeReloadable(t, o)
			load := func(more string) {
				t.Helper()
				if status, body := s.Load(s.Named("a.test", "robots_txt {\n"+more+"\n}")); status != 200 {
					t.Fatalf("got %d %s", status, body)
				}
			}
			load("disallow GPTBot")
			direct := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test"))
			if strings.Contains(direct.Body, "Added by robots_txt") {
				t.Errorf("composed without a base: %d %q", direct.Status, direct.Body)
			}
			fails.Store(false)
			load("disallow CCBot\nbase upstream")
			harness.Eventually(t, "the base is read", func() bool {
				return strings.Contains(harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test")).Body, "User-agent: CCBot")
			})
			fails.Store(true)
			load("disallow CCBot GPTBot")
			if a := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test")); !strings.Contains(a.Body, "User-agent: GPTBot") || !strings.Contains(a.Body, "Disallow: /p") {
				t.Errorf("the last good base is lost: %d %q", a.Status, a.Body)
			}
		})
	}
}

// TestStaging checks that a staging host is closed in every response. The other host is
// not.
func TestStaging(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private\n", nil)
	s := harness.Serve(t, `http://a.test:$PORT, http://staging.a.test:$PORT {
		robots_guard enforce
		robots_txt {
			staging staging.a.test
			disallow GPTBot
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	for host, want := range map[string]struct {
		robots, tag string
		page        int
	}{
		"a.test":         {"Disallow: /private\n", "", 200},
		"staging.a.test": {"User-agent: *\nDisallow: /\n", "noindex", 403},
	} {
		robots := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host(host))
		if !strings.Contains(robots.Body, want.robots) || robots.Header.Get("X-Robots-Tag") != want.tag {
			t.Errorf("%s: %v %q", host, robots.Header, robots.Body)
		}
		page := harness.Get(t, s.URL("/page"), harness.Googlebot, harness.Host(host))
		if page.Status != want.page {
			t.Errorf("%s: Googlebot got %d %q", host, page.Status, page.Body)
		}
		human := harness.Get(t, s.URL("/page"), harness.Firefox, harness.Host(host))
		if human.Status != 200 || human.Header.Get("X-Robots-Tag") != want.tag {
			t.Errorf("%s: a browser got %d %v", host, human.Status, human.Header)
		}
	}
}

// TestInventedHosts checks that unknown hosts get the rules as well. The fetches of
// their bases are limited.
func TestInventedHosts(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private\n", nil)
	s := harness.Serve(t, `http://:$PORT {
		robots_txt {
			disallow GPTBot
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	for i := range 300 {
		a := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host(fmt.Sprintf("h%d.test", i)))
		if a.Status != 200 || !strings.Contains(a.Body, "Disallow: /private\n") {
			t.Fatalf("host %d got %d %q", i, a.Status, a.Body)
		}
		if i < 10 && !strings.Contains(a.Body, "User-agent: GPTBot") {
			t.Errorf("host %d got no rules: %q", i, a.Body)
		}
	}
}
