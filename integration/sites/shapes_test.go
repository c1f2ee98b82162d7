package sites

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestShapes runs common forms of Caddyfiles. The guard enforces the robots.txt that
// the site serves to anonymous crawlers, and changes nothing else.
func TestShapes(t *testing.T) {
	t.Parallel()
	runShapes(t, []shape{
		{name: "file_server", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			file_server
		}`},
		{name: "reverse_proxy", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			reverse_proxy $ORIGIN
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
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/app/private", 403, "Disallow: /app/private"},
			{harness.Bingbot, "/app/x", 200, "app"},
			{harness.Bingbot, "/free/private", 200, "free"}, // without a guard
			{harness.Firefox, "/app/private", 200, "app"},
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
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/app/private", 403, "Disallow: /app/private"},
			{harness.Bingbot, "/app/x", 200, "app /x"},
			{harness.Bingbot, "/app/robots.txt", 200, "Disallow: /"},
		}},
		{name: "guard in route after rewrite", warm: []string{"/new"}, sites: `http://a.test:$PORT {
			route {
				rewrite /old /new
				robots_guard enforce
				respond /robots.txt "User-agent: *
Disallow: /old"
				respond "got {path}"
			}
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/old", 403, "Disallow: /old"},
			{harness.Bingbot, "/new", 200, "got /new"},
			{harness.Firefox, "/old", 200, "got /new"},
		}},
		{name: "try_files to an app", sites: `http://a.test:$PORT {
			robots_guard enforce
			root $ROOT
			try_files {path} /page.txt
			file_server
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/private/route-of-the-app", 403, ""},
			{harness.Bingbot, "/other/route", 200, "page"},
		}},
		{name: "encode", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			encode zstd gzip {
				minimum_length 1
			}
			root $ROOT
			file_server
		}`},
		{name: "rewrite of a disallowed path", sites: `http://a.test:$PORT {
			robots_guard enforce
			rewrite /private/* /page.txt
			root $ROOT
			file_server
		}`, visits: []harness.Visit{
			{harness.Bingbot, "/private/x.txt", 403, ""},
			{harness.Bingbot, "/page.txt", 200, "page"},
			{harness.Firefox, "/private/x.txt", 200, "page"},
		}},
		{name: "rewrite to a disallowed path", sites: `http://a.test:$PORT {
			robots_guard enforce
			rewrite /open /private/x.txt
			root $ROOT
			file_server
		}`, visits: append([]harness.Visit{{harness.Bingbot, "/open", 200, "secret"}}, usual...)},
		{name: "request_body", visits: usual, sites: `http://a.test:$PORT {
			robots_guard enforce
			request_body {
				max_size 1KB
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
		}`, visits: append([]harness.Visit{
			{harness.Bingbot, "http://b.test/private/x.txt", 200, "secret"},
			{harness.GPTBot, "http://b.test/page.txt", 200, "page"},
			{harness.Bingbot, "http://c.test/private/x.txt", 200, "secret"},
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
		}`, visits: []harness.Visit{
			{harness.Bingbot, "http://one.a.test/one/x", 403, "http://one.a.test"},
			{harness.Bingbot, "http://one.a.test/two/x", 200, "page"},
			{harness.Bingbot, "http://two.a.test/two/x", 403, "http://two.a.test"},
			{harness.Bingbot, "http://two.a.test/one/x", 200, "page"},
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
		}`, visits: []harness.Visit{
			{harness.Bingbot, "http://one.test/one.test/x", 403, "http://one.test"},
			{harness.Bingbot, "http://one.test/two.test/x", 200, "page"},
			{harness.Bingbot, "http://127.0.0.1/127.0.0.1/", 403, "http://127.0.0.1"},
			{harness.Firefox, "http://one.test/one.test/x", 200, "page"},
		}},
		{name: "two guards", sites: `http://a.test:$PORT {
			route {
				@other path /other/*
				robots_guard @other monitor
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
		}`, visits: append([]harness.Visit{{harness.Bingbot, "/private/api/x", 404, ""}}, usual...)},
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
	})
}
