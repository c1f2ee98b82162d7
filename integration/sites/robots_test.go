package sites

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestShapesOfRobots is like TestShapes, for different sources of robots.txt and
// options about it.
func TestShapesOfRobots(t *testing.T) {
	t.Parallel()
	runShapes(t, []shape{
		{name: "a separate handle /robots.txt", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			handle /robots.txt {
				root $ROOT
				file_server
			}
			handle {
				root $BARE
				file_server
			}
		}`},
		{name: "rewrite and uri strip_prefix", sites: `http://a.test:$PORT {
			robots_guard enforce
			rewrite /robots.txt /other.txt
			uri strip_prefix /v1
			root $ROOT
			file_server
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/private/x.txt", 403, ""},
			{harness.Bingbot, "/v1/private/x.txt", 200, "secret"}, // robots.txt has no rule for /v1/
			{harness.Bingbot, "/page.txt", 200, "page"},
		}},
		{name: "respond", sites: `http://a.test:$PORT {
			robots_guard enforce
			respond /robots.txt "User-agent: *
Disallow: /private/"
			respond "page"
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/private/x", 403, ""},
			{harness.Bingbot, "/", 200, "page"},
		}},
		{name: "redir of robots.txt to another path", visits: usual[:4], sites: `http://a.test:$PORT {
			robots_guard enforce
			redir /robots.txt /other.txt
			root $ROOT
			file_server
		}`},
		{name: "redir of robots.txt to another server", visits: usual[:4], sites: `http://a.test:$PORT {
			robots_guard enforce {
				allow_private on
			}
			redir /robots.txt http://$ORIGIN/robots.txt
			root $ROOT
			file_server
		}`},
		{name: "redir of everything to www", warm: []string{"http://www.a.test/"}, sites: `http://a.test:$PORT {
			robots_guard enforce
			redir http://www.a.test:$PORT{uri}
		}
		http://www.a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
		}`, visits: []harness.Visit{
			{harness.Bingbot, "http://www.a.test/private/x.txt", 403, ""},
			{harness.Firefox, "/private/x.txt", 302, ""},
		}},
		{name: "templates", sites: `http://a.test:$PORT {
			robots_guard enforce
			templates {
				mime text/plain
			}
			root $ROOT/host
			file_server
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/a.test/private/x", 403, "Disallow: /a.test/private/"},
			{harness.Bingbot, "/page.txt", 200, "page of a.test"},
			{harness.Firefox, "/a.test/private/x", 404, ""},
		}},
		{name: "intercept", visits: proxied, sites: `http://a.test:$PORT {
			robots_guard enforce
			intercept {
				@none status 404
				handle_response @none {
					root $ROOT
					file_server
				}
			}
			reverse_proxy $NO_FILE
		}`},
		{name: "handle_response", visits: proxied, sites: `http://a.test:$PORT {
			robots_guard enforce
			reverse_proxy $NO_FILE {
				@none status 404
				handle_response @none {
					root $ROOT
					file_server
				}
			}
		}`},
		{name: "handle_errors", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			rewrite /robots.txt /none.txt
			root $ROOT
			file_server
			handle_errors 404 {
				rewrite /robots.txt
				file_server {
					status 200
				}
			}
		}`},
		{name: "source file", sites: `http://a.test:$PORT {
			robots_guard enforce {
				source file $ROOT/robots.txt
			}
			root $BARE
			file_server
		}`, visits: usual[:4]},
		{name: "source url", sites: `http://a.test:$PORT {
			robots_guard enforce {
				source http://$ORIGIN/robots.txt
				allow_private on
			}
			root $BARE
			file_server
		}`, visits: usual[:4]},
		{name: "robots.txt 404", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $BARE
			file_server
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/private/x.txt", 200, "secret"},
			{harness.GPTBot, "/page.txt", 200, "page"},
		}},
		{name: "robots.txt 403", sites: `http://a.test:$PORT {
			robots_guard enforce
			respond /robots.txt "User-agent: *
Disallow: /" 403
			respond "page"
		}`, visits: []harness.Visit{{harness.Bingbot, "/x", 200, "page"}}},
		{name: "robots.txt is HTML", sites: `http://a.test:$PORT {
			robots_guard enforce
			header /robots.txt Content-Type text/html
			respond /robots.txt "<!doctype html><html><body>Not the page you look for</body></html>"
			respond "page"
		}`, visits: []harness.Visit{{harness.Bingbot, "/x", 200, "page"}}},
		{name: "empty robots.txt", sites: `http://a.test:$PORT {
			robots_guard enforce
			respond /robots.txt ""
			respond "page"
		}`, visits: []harness.Visit{{harness.Bingbot, "/x", 200, "page"}}},
	})
}

// TestShapeTrustedProxy tests an origin that redirects http to https according to a
// field of a trusted proxy.
func TestShapeTrustedProxy(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Forwarded-Proto") == "https" {
			return false
		}
		http.Redirect(w, r, "https://"+r.Host+r.RequestURI, http.StatusMovedPermanently)
		return true
	})
	const site = `http://a.test:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}`
	forwarded := harness.Header("X-Forwarded-Proto", "https")
	trusting := harness.Serve(t, site, "$ORIGIN", o.Address(), "$GLOBAL", "servers {\n trusted_proxies static 127.0.0.1/32\n }")
	harness.Eventually(t, "the crawler is blocked", func() bool {
		return harness.Get(t, trusting.URL("/private/x"), harness.Bingbot, forwarded).Status == 403
	})
	if a := harness.Get(t, trusting.URL("/page"), harness.Bingbot, forwarded); a.Status != 200 || a.Body != "origin /page" {
		t.Errorf("an allowed page: got %d %q", a.Status, a.Body)
	}
	if a := harness.Get(t, trusting.URL("/private/x"), harness.Firefox, forwarded); a.Status != 200 {
		t.Errorf("a browser got %d", a.Status)
	}

	// Without trust any client could set the field, and the redirect leads outside.
	distrusting := harness.Serve(t, site, "$ORIGIN", o.Address())
	if a := harness.Get(t, distrusting.URL("/private/x"), harness.Bingbot, forwarded); a.Status != 301 {
		t.Errorf("without trust: got %d, want the origin's 301", a.Status)
	}
}

func TestShapeHTTPS(t *testing.T) {
	t.Parallel()
	root := harness.Files(t, map[string]string{"robots.txt": harness.ClosedRobots, "page.txt": "page", "private/x.txt": "secret"})
	s := harness.Serve(t, `https://a.test:$PORT, https://b.test:$PORT {
		tls internal
		robots_guard enforce
		root $ROOT
		file_server
	}`, "$ROOT", root)
	for _, tc := range []struct {
		proto  string
		client *http.Client
	}{{"HTTP/1.1", harness.Client}, {"HTTP/2.0", harness.NewClient(true)}} {
		for _, host := range []string{"a.test", "b.test"} {
			harness.Eventually(t, "the certificate and the robots.txt are available", func() bool {
				a, err := harness.Try(tc.client, s.URL("https://"+host+"/private/x.txt"), harness.Bingbot)
				return err == nil && a.Status == 403
			})
			for _, v := range usual {
				a, err := harness.Try(tc.client, s.URL("https://"+host+v.Path), v.UserAgent)
				if err != nil {
					t.Fatal(err)
				}
				if a.Proto != tc.proto || a.Status != v.Status || !strings.Contains(a.Body, v.Body) {
					t.Errorf("%s %s as %q: got %s %d %q, want %d %q", tc.proto, v.Path, v.UserAgent, a.Proto, a.Status, a.Body, v.Status, v.Body)
				}
				if want := "https://" + net.JoinHostPort(host, s.Port) + "/robots.txt"; a.Status == 403 && !strings.Contains(a.Body, want) {
					t.Errorf("the body does not name %s:\n%s", want, a.Body)
				}
			}
		}
	}
}
