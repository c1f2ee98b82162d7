package neighbours

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestNamedRoutes guards a site by a named route whose directives stand in a route. Without
// that Caddy keeps but the first of them, and the guard is gone without a word: once it
// does so no more, the line about invoke in docs/neighbours.md is out of date.
func TestNamedRoutes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, open, end string
		status          int
		body            string
	}{
		{"in a route", "route {\n", "}\n", 403, "Disallow: /private/"},
		{"by themselves", "", "", 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, rules, nil)
			s := harness.Serve(t, "&(site) {\n"+tc.open+"header X-Site a\nrobots_guard enforce\nreverse_proxy $ORIGIN\n"+tc.end+"}\nhttp://a.test:$PORT {\ninvoke site\n}", "$ORIGIN", o.Address())
			harness.Visits(t, s, []harness.Visit{{harness.Bingbot, "/private/x", tc.status, tc.body}})
			if asked := o.Requests("/robots.txt") > 0; asked != (tc.status == 403) {
				t.Errorf("the robots.txt was asked for: %t", asked)
			}
		})
	}
}
