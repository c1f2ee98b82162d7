package sites

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// usual is what a site with closedRobots does.
var usual = []harness.Visit{
	{harness.Bingbot, "/private/x.txt", 403, "bingbot"},
	{harness.GPTBot, "/page.txt", 403, "GPTBot"},
	{harness.Bingbot, "/page.txt", 200, "page"},
	{harness.Firefox, "/private/x.txt", 200, "secret"},
	{harness.GPTBot, "/robots.txt", 200, "User-agent"},
}

// shape is a Caddyfile, in which $ROOT stands for a folder with a robots.txt, $BARE
// for one without, and $ORIGIN for a server with one, and what its visitors get.
type shape struct {
	name, sites string
	warm        []string
	visits      []harness.Visit
}

func runShapes(t *testing.T, shapes []shape) {
	t.Helper()
	root := harness.Files(t, map[string]string{
		"robots.txt": harness.ClosedRobots, "page.txt": "page", "private/x.txt": "secret", "other.txt": harness.ClosedRobots,
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

	for _, tc := range shapes {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, tc.sites, "$ROOT", root, "$BARE", bare, "$ORIGIN", o.Address())
			if tc.warm == nil {
				tc.warm = []string{"/"}
			}
			s.Warm(tc.warm...)
			harness.Visits(t, s, tc.visits)
		})
	}
}
