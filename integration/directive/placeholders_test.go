package directive

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestPlaceholders checks the placeholders in the places where sites use them.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	const all = "{http.robots_guard.verdict}|{http.robots_guard.action}|{http.robots_guard.crawler}|{http.robots_guard.class}|" +
		"{http.robots_guard.identity}|{http.robots_guard.rule}|{http.robots_guard.line}|{http.robots_guard.group}"
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			return false
		}
		fmt.Fprint(w, r.Header.Get("X-Robots"))
		return true
	})
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard monitor
		header >X-Robots "$ALL"
		request_header X-Robots "$ALL"
		respond /respond "$ALL"
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address(), "$ALL", all)
	s.Warm("/")
	for _, tc := range []struct{ userAgent, path, want string }{
		{harness.Bingbot, "/private/x", "disallowed|logged|bingbot|search|claimed|Disallow: /private/|2|*"},
		{harness.Bingbot, "/page", "allowed|none|bingbot|search|claimed|||*"},
		{harness.UptimeRobot, "/page", "exempt|none|UptimeRobot|monitor|claimed|||"},
		{"gptbot/9", "/respond", "disallowed|logged|GPTBot|ai_training|claimed|Disallow: /|5|GPTBot"},
		{harness.Firefox, "/private/x", "|||||||"},
		{harness.Firefox, "/respond", "|||||||"},
		{"", "/respond", "|||||||"},
	} {
		a := harness.Get(t, s.URL(tc.path), tc.userAgent)
		if a.Body != tc.want || a.Header.Get("X-Robots") != tc.want {
			t.Errorf("%s as %q: got body %q, header %q, want %q", tc.path, tc.userAgent, a.Body, a.Header.Get("X-Robots"), tc.want)
		}
	}
}

// TestPathPlaceholder checks the placeholder of the path in all contexts: a directive
// that Caddy runs before the guard and evaluates late, an error route, a named route
// and a template.
func TestPathPlaceholder(t *testing.T) {
	t.Parallel()
	for name, site := range map[string]string{
		"header":      "header >X-Path {http.robots_guard.path}\nrobots_guard\nrespond page",
		"error route": "robots_guard\nerror 500\nhandle_errors {\nheader X-Path {http.robots_guard.path}\nrespond page 200\n}",
		"named route": "robots_guard\ninvoke named",
		"template":    "robots_guard\ntemplates {\nmime text/plain\n}\nrespond \"{{ placeholder `http.robots_guard.path` }}\"",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, "&(named) {\n$NAMED\n}\nhttp://a.test:$PORT {\nhandle /robots.txt {\nrespond \"User-agent: *\nDisallow: /costly\n\"\n}\nhandle {\n"+
				strings.Replace(site, "\nhandle_errors", "\n}\nhandle_errors", 1)+"\n}\n",
				"$NAMED", map[bool]string{true: "header X-Path {http.robots_guard.path}\nrespond page"}[name == "named route"])
			for path, want := range map[string]string{"/costly": "disallowed", "/page": "allowed"} {
				var a harness.Answer
				harness.Eventually(t, path+" is "+want, func() bool {
					a = harness.Get(t, s.URL(path), harness.Firefox)
					return a.Header.Get("X-Path") == want || a.Body == want
				})
			}
		})
	}
}
