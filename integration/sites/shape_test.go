package sites

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// usual are the responses of a site with ClosedRobots.
var usual = []harness.Visit{
	{harness.Bingbot, "/private/x.txt", 403, "bingbot"},
	{harness.GPTBot, "/page.txt", 403, "GPTBot"},
	{harness.Bingbot, "/page.txt", 200, "page"},
	{harness.Firefox, "/private/x.txt", 200, "secret"},
	{harness.GPTBot, "/robots.txt", 200, "User-agent"},
}

// proxied are the responses of a site with $NO_FILE and ClosedRobots.
var proxied = []harness.Visit{
	{harness.Bingbot, "/private/x", 403, "bingbot"},
	{harness.Bingbot, "/x", 200, "origin /x"},
	{harness.Firefox, "/private/x", 200, "origin /private/x"},
}

// shape is a Caddyfile with the expected responses. $ROOT stands for a folder with a
// robots.txt, $BARE for a folder without one, $ORIGIN for a server with one, and
// $NO_FILE for a server without one.
type shape struct {
	name, sites string
	warm        []string
	visits      []harness.Visit
}

func runShapes(t *testing.T, shapes []shape) {
	t.Helper()
	root := harness.Files(t, map[string]string{
		"robots.txt": harness.ClosedRobots, "page.txt": "page", "private/x.txt": "secret", "other.txt": harness.ClosedRobots,
		"host/robots.txt": "User-agent: *\nDisallow: /{{.Host}}/private/\n", "host/page.txt": "page of {{.Host}}",
	})
	bare := harness.Files(t, map[string]string{"page.txt": "page", "private/x.txt": "secret"})
	o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
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

	noFile := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
		}
		return r.URL.Path == "/robots.txt"
	})

	// One server runs the sites of all shapes, each shape in its own domain.
	in := func(i int, text string) string { return strings.ReplaceAll(text, ".test", fmt.Sprintf(".t%d", i)) }
	var sites strings.Builder
	for i, tc := range shapes {
		sites.WriteString(in(i, tc.sites) + "\n")
	}
	s := harness.Serve(t, sites.String(), "$ROOT", root, "$BARE", bare, "$ORIGIN", o.Address(), "$NO_FILE", noFile.Address())
	for i, tc := range shapes {
		t.Run(tc.name, func(t *testing.T) {
			at := func(path string) string {
				if strings.HasPrefix(path, "/") {
					path = "http://a.test" + path
				}
				return in(i, path)
			}
			if tc.warm == nil {
				tc.warm = []string{"/"}
			}
			for _, path := range tc.warm {
				s.Warm(at(path))
			}
			var visits []harness.Visit
			for _, v := range tc.visits {
				v.Path, v.Body = at(v.Path), in(i, v.Body)
				visits = append(visits, v)
			}
			count := func() float64 { return s.Metrics().Sum(harness.RequestsMetric, `verdict="disallowed"`) }
			earlier, blocked := count(), 0.0
			harness.Visits(t, s, visits)
			for _, v := range visits {
				if v.Status == 403 {
					blocked++
				}
			}
			if n := count() - earlier; n != blocked {
				t.Errorf("counted %v disallowed requests, want %v", n, blocked)
			}
		})
	}
}
