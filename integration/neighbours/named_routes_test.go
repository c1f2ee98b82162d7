package neighbours

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestNamedRoutes guards a site by a named route whose directives are inside a route
// block. Without the block Caddy keeps only the first directive, so the guard is
// missing without a warning. If Caddy changes that, update the line about invoke in
// docs/neighbours.md.
func TestNamedRoutes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, open, end string
		status          int
		body            string
	}{
		{"with a route block", "route {\n", "}\n", 403, "Disallow: /private/"},
		{"without a route block", "", "", 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, rules, nil)
			s := harness.Serve(t, "&(site) {\n"+tc.open+"header X-Site a\nrobots_guard enforce\nreverse_proxy $ORIGIN\n"+tc.end+"}\nhttp://a.test:$PORT {\ninvoke site\n}", "$ORIGIN", o.Address())
			harness.Visits(t, s, []harness.Visit{{harness.Bingbot, "/private/x", tc.status, tc.body}})
			if asked := o.Requests("/robots.txt") > 0; asked != (tc.status == 403) {
				t.Errorf("robots.txt was requested: %t", asked)
			}
		})
	}
}
