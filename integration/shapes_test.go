package integration

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// closedRobots forbids /private/ to all crawlers, and GPTBot everything.
const closedRobots = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n"

// usual is what a site with closedRobots does.
var usual = []visit{
	{bingbot, "/private/x.txt", 403, "bingbot"},
	{gptBot, "/page.txt", 403, "GPTBot"},
	{bingbot, "/page.txt", 200, "page"},
	{firefox, "/private/x.txt", 200, "secret"},
	{gptBot, "/robots.txt", 200, "User-agent"},
}

// TestShapes runs the shapes of Caddyfiles that people write: the robots.txt
// that an anonymous crawler gets from the site is obeyed, and nothing else
// changes.
func TestShapes(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{
		"robots.txt": closedRobots, "page.txt": "page", "private/x.txt": "secret", "other.txt": closedRobots,
	})
	bare := files(t, map[string]string{"page.txt": "page", "private/x.txt": "secret"})
	o := newOrigin(t, closedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/page.txt":
			fmt.Fprint(w, "page")
		case "/private/x.txt":
			fmt.Fprint(w, "secret")
		default:
			return false
		}
		return true
	})

	for _, tc := range []struct {
		name, sites string
		warm        []string
		visits      []visit
	}{
		{name: "file_server", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
		}`},
		{name: "reverse_proxy", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			reverse_proxy $ORIGIN
		}`},
		{name: "handle /robots.txt beside", visits: usual, sites: `http://a.test:$PORT {
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
		{name: "guard within handle only", warm: []string{"/app/x"}, sites: `http://a.test:$PORT {
			handle /app/* {
				robots_guard enforce
				respond "app"
			}
			handle /robots.txt {
				respond <<R
					User-agent: *
					Disallow: /app/private
					Disallow: /free/private
					R
			}
			handle {
				respond "free"
			}
		}`, visits: []visit{
			{bingbot, "/app/private", 403, "Disallow: /app/private"},
			{bingbot, "/app/x", 200, "app"},
			{bingbot, "/free/private", 200, "free"}, // not guarded
			{firefox, "/app/private", 200, "app"},
		}},
		{name: "guard in handle_path", warm: []string{"/app/x"}, sites: `http://a.test:$PORT {
			handle_path /app/* {
				robots_guard enforce
				respond /robots.txt "User-agent: *
Disallow: /" 200
				respond "app {path}"
			}
			respond /robots.txt "User-agent: *
Disallow: /app/private"
		}`, visits: []visit{
			{bingbot, "/app/private", 403, "Disallow: /app/private"},
			{bingbot, "/app/x", 200, "app /x"},
			{bingbot, "/app/robots.txt", 200, "Disallow: /"},
		}},
		{name: "guard in route after rewrite", warm: []string{"/new"}, sites: `http://a.test:$PORT {
			route {
				rewrite /old /new
				robots_guard enforce
				respond /robots.txt "User-agent: *
Disallow: /old"
				respond "got {path}"
			}
		}`, visits: []visit{
			{bingbot, "/old", 403, "Disallow: /old"},
			{bingbot, "/new", 200, "got /new"},
			{firefox, "/old", 200, "got /new"},
		}},
		{name: "rewrite and uri strip_prefix", sites: `http://a.test:$PORT {
			robots_guard enforce
			rewrite /robots.txt /other.txt
			uri strip_prefix /v1
			root $ROOT
			file_server
		}`, visits: []visit{
			{bingbot, "/private/x.txt", 403, ""},
			{bingbot, "/v1/private/x.txt", 200, "secret"}, // robots.txt says nothing of /v1/
			{bingbot, "/page.txt", 200, "page"},
		}},
		{name: "try_files to an app", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			try_files {path} /page.txt
			file_server
		}`, visits: []visit{
			{bingbot, "/private/route-of-the-app", 403, ""},
			{bingbot, "/other/route", 200, "page"},
		}},
		{name: "encode", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			encode zstd gzip {
				minimum_length 1
			}
			root $ROOT
			file_server
		}`},
		{name: "basic_auth for a part", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			basic_auth /admin/* {
				u $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
			}
			root $ROOT
			file_server
		}`},
		{name: "basic_auth for everything", sites: `http://a.test:$PORT {
			robots_guard enforce
			basic_auth {
				u $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
			}
			root $ROOT
			file_server
		}`, visits: []visit{ // nobody may read the robots.txt, so there is none
			{bingbot, "/private/x.txt", 401, ""},
			{firefox, "/private/x.txt", 401, ""},
		}},
		{name: "two sites on one listener", warm: []string{"http://a.test/", "http://b.test/"}, sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
		}
		http://b.test:$PORT {
			robots_guard enforce
			root $BARE
			file_server
		}
		http://c.test:$PORT {
			root $ROOT
			file_server
		}`, visits: append([]visit{
			{bingbot, "http://b.test/private/x.txt", 200, "secret"},
			{gptBot, "http://b.test/page.txt", 200, "page"},
			{bingbot, "http://c.test/private/x.txt", 200, "secret"},
		}, usual...)},
		{name: "wildcard site", warm: []string{"http://one.a.test/", "http://two.a.test/"}, sites: `http://*.a.test:$PORT {
			robots_guard enforce
			@one host one.a.test
			respond @one /robots.txt "x"
			handle /robots.txt {
				respond "User-agent: *
Disallow: /{labels.2}/"
			}
			handle {
				respond "page"
			}
		}`, visits: []visit{
			{bingbot, "http://one.a.test/one/x", 403, "http://one.a.test"},
			{bingbot, "http://one.a.test/two/x", 200, "page"},
			{bingbot, "http://two.a.test/two/x", 403, "http://two.a.test"},
			{bingbot, "http://two.a.test/one/x", 200, "page"},
		}},
		{name: "catch-all site", warm: []string{"http://one.test/", "http://127.0.0.1/"}, sites: `http://:$PORT {
			robots_guard enforce
			handle /robots.txt {
				respond "User-agent: *
Disallow: /{host}/"
			}
			handle {
				respond "page"
			}
		}`, visits: []visit{
			{bingbot, "http://one.test/one.test/x", 403, "http://one.test"},
			{bingbot, "http://one.test/two.test/x", 200, "page"},
			{bingbot, "http://127.0.0.1/127.0.0.1/", 403, "http://127.0.0.1"},
			{firefox, "http://one.test/one.test/x", 200, "page"},
		}},
		{name: "respond", sites: `http://a.test:$PORT {
			robots_guard enforce
			respond /robots.txt "User-agent: *
Disallow: /private/"
			respond "page"
		}`, visits: []visit{
			{bingbot, "/private/x", 403, ""},
			{bingbot, "/", 200, "page"},
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
		}`, visits: []visit{
			{bingbot, "http://www.a.test/private/x.txt", 403, ""},
			{firefox, "/private/x.txt", 302, ""},
		}},
		{name: "two guards", sites: `http://a.test:$PORT {
			route {
				robots_guard monitor
				robots_guard enforce
				root $ROOT
				file_server
			}
		}`, visits: usual},
		{name: "snippet with arguments", visits: usual, sites: `(guarded) {
			robots_guard {args[0]} {
				fetch_wait 2s
			}
			root $ROOT
		}
		http://a.test:$PORT {
			import guarded enforce
			file_server
		}`},
		{name: "matcher", sites: `http://a.test:$PORT {
			@not_api not path /private/api/*
			robots_guard @not_api enforce
			root $ROOT
			file_server
		}`, visits: append([]visit{{bingbot, "/private/api/x", 404, ""}}, usual...)},
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
		}`, visits: []visit{
			{bingbot, "/private/x.txt", 200, "secret"},
			{gptBot, "/page.txt", 200, "page"},
		}},
		{name: "robots.txt 403", sites: `http://a.test:$PORT {
			robots_guard enforce
			respond /robots.txt "User-agent: *
Disallow: /" 403
			respond "page"
		}`, visits: []visit{{bingbot, "/x", 200, "page"}}},
		{name: "robots.txt is HTML", sites: `http://a.test:$PORT {
			robots_guard enforce
			header /robots.txt Content-Type text/html
			respond /robots.txt "<!doctype html><html><body>Not the page you look for</body></html>"
			respond "page"
		}`, visits: []visit{{bingbot, "/x", 200, "page"}}},
		{name: "empty robots.txt", sites: `http://a.test:$PORT {
			robots_guard enforce
			respond /robots.txt ""
			respond "page"
		}`, visits: []visit{{bingbot, "/x", 200, "page"}}},
		{name: "handle_errors", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
			handle_errors {
				respond "{err.status_code}: {err.message}; {http.robots_guard.rule}"
			}
		}`, visits: []visit{
			{bingbot, "/private/x.txt", 403, "403: robots.txt does not allow bingbot to fetch this URL: line 2, Disallow: /private/; Disallow: /private/"},
			{bingbot, "/none", 404, "404: "},
			{firefox, "/private/x.txt", 200, "secret"},
		}},
		{name: "handle_errors for another status", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
			handle_errors 404 {
				respond "lost"
			}
		}`, visits: []visit{
			{bingbot, "/private/x.txt", 403, "does not allow bingbot"},
			{bingbot, "/none", 404, "lost"},
		}},
		{name: "handle_errors for 4xx", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
			handle_errors 4xx {
				respond "any {err.status_code}"
			}
		}`, visits: []visit{{bingbot, "/private/x.txt", 403, "any 403"}}},
		{name: "handle_errors on the neighbour only", warm: []string{"http://a.test/", "http://b.test/"}, sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
		}
		http://b.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
			handle_errors {
				respond "b says {err.status_code}"
			}
		}`, visits: []visit{
			{bingbot, "/private/x.txt", 403, "does not allow bingbot"},
			{bingbot, "http://b.test/private/x.txt", 403, "b says 403"},
		}},
		{name: "handle_errors that only logs by a matcher", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
			handle_errors {
				@missing expression {err.status_code} == 404
				respond @missing "lost"
			}
		}`, visits: []visit{
			{bingbot, "/private/x.txt", 403, "does not allow bingbot"},
			{bingbot, "/none", 404, "lost"},
		}},
		{name: "handle_errors that only sets a header", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
			handle_errors {
				header X-Error {err.status_code}
			}
		}`, visits: []visit{{bingbot, "/private/x.txt", 403, ""}}},
		{name: "intercept and header", visits: usual, sites: `http://a.test:$PORT {
			header X-Frame-Options DENY
			robots_guard enforce
			root $ROOT
			file_server
		}`},
		{name: "invoke of a named route", visits: usual, sites: `&(site) {
			route {
				root $ROOT
				file_server
			}
		}
		http://a.test:$PORT {
			robots_guard enforce
			invoke site
		}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tc.sites, "$ROOT", root, "$BARE", bare, "$ORIGIN", o.address())
			if tc.warm == nil {
				tc.warm = []string{"/"}
			}
			s.warm(tc.warm...)
			visits(t, s, tc.visits)
		})
	}
}

// TestShapeUnreachable has robots.txt answers that say nothing about the rules.
func TestShapeUnreachable(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 500, 502, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := serve(t, `http://a.test:$PORT {
				robots_guard enforce
				respond /robots.txt "User-agent: *
Disallow: /" $STATUS
				respond "page {http.robots_guard.verdict}"
			}`, "$STATUS", fmt.Sprint(status))
			visits(t, s, []visit{
				{bingbot, "/x", 200, "page unknown"},
				{gptBot, "/x", 200, "page unknown"},
				{firefox, "/x", 200, "page"},
			})
		})
	}
}

// TestShapeTrustedProxy has an origin that redirects what came by http to
// https, as a frontend before Caddy tells it.
func TestShapeTrustedProxy(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, closedRobots, func(w http.ResponseWriter, r *http.Request) bool {
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
	forwarded := header("X-Forwarded-Proto", "https")
	trusting := serve(t, site, "$ORIGIN", o.address(), "$GLOBAL", "servers {\n trusted_proxies static 127.0.0.1/32\n }")
	eventually(t, "the crawler is blocked", func() bool {
		return get(t, trusting.url("/private/x"), bingbot, forwarded).status == 403
	})
	if a := get(t, trusting.url("/page"), bingbot, forwarded); a.status != 200 || a.body != "origin /page" {
		t.Errorf("an allowed page: got %d %q", a.status, a.body)
	}
	if a := get(t, trusting.url("/private/x"), firefox, forwarded); a.status != 200 {
		t.Errorf("a browser got %d", a.status)
	}

	// Without trust the header is anybody's, and the redirect leads outside.
	distrusting := serve(t, site, "$ORIGIN", o.address())
	if a := get(t, distrusting.url("/private/x"), bingbot, forwarded); a.status != 301 {
		t.Errorf("without trust: got %d, want the origin's 301", a.status)
	}
}

func TestShapeHTTPS(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"robots.txt": closedRobots, "page.txt": "page", "private/x.txt": "secret"})
	s := serve(t, `https://a.test:$PORT, https://b.test:$PORT {
		tls internal
		robots_guard enforce
		root $ROOT
		file_server
	}`, "$ROOT", root)
	for _, tc := range []struct {
		proto  string
		client *http.Client
	}{{"HTTP/1.1", client}, {"HTTP/2.0", client2}} {
		for _, host := range []string{"a.test", "b.test"} {
			eventually(t, "there is a certificate and the robots.txt is known", func() bool {
				a, err := try(tc.client, s.url("https://"+host+"/private/x.txt"), bingbot)
				return err == nil && a.status == 403
			})
			for _, v := range usual {
				a, err := try(tc.client, s.url("https://"+host+v.path), v.userAgent)
				if err != nil {
					t.Fatal(err)
				}
				if a.proto != tc.proto || a.status != v.status || !strings.Contains(a.body, v.body) {
					t.Errorf("%s %s as %q: got %s %d %q, want %d %q", tc.proto, v.path, v.userAgent, a.proto, a.status, a.body, v.status, v.body)
				}
				if want := "https://" + net.JoinHostPort(host, s.port) + "/robots.txt"; a.status == 403 && !strings.Contains(a.body, want) {
					t.Errorf("the body does not name %s:\n%s", want, a.body)
				}
			}
		}
	}
}
