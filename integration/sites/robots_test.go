package sites

import (
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
