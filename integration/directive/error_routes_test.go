package directive

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestGuardInErrorRoutes has a guard stand in handle_errors, as where a snippet is imported
// into both: the page for a block is served, and a warning says that it is of no use there.
func TestGuardInErrorRoutes(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce
		handle_errors {
			robots_guard enforce
			respond "our page: {http.robots_guard.rule}" {err.status_code}
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	s.Warm("/")
	if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != 403 || a.Body != "our page: Disallow: /private/" {
		t.Errorf("the crawler got %d %q", a.Status, a.Body)
	}
	if a := harness.Get(t, s.URL("/x"), harness.Bingbot); a.Status != 200 {
		t.Errorf("the crawler got %d for what is allowed", a.Status)
	}
	if log := s.Logs.String(); strings.Count(log, "robots_guard stands in handle_errors") != 1 {
		t.Errorf("no warning, or more than one:\n%s", log)
	}
}
