package storage

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestReloadNamesASite gives a host of a wildcard or catch-all site its own site, or
// removes that site. The guard keeps the list of files that crawlers may be using, so
// that no crawler is blocked for an unknown change.
func TestReloadNamesASite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, after string
	}{
		"from a wildcard":  {"http://*.test:", "http://a.test:"},
		"to a wildcard":    {"http://a.test:", "http://*.test:"},
		"from a catch-all": {"http://:", "http://a.test:"},
		"to a catch-all":   {"http://a.test:", "http://:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, text := harness.NewChangingOrigin(t, harness.ClosedRobots)
			s := harness.ServeReloadable(t, o)
			s.MustLoad(strings.Replace(s.Named("before", ""), "http://a.test:", tc.before, 1))
			s.Warm("/")
			text.Store(harness.ClosedRobots + "\nUser-agent: bingbot\nDisallow: /\n")
			if a := harness.Get(t, "http://127.0.0.1:"+s.Admin+"/robots_guard/policies/a.test:"+s.Port+"/refresh", "", harness.Method(http.MethodPost)); a.Status != http.StatusOK {
				t.Fatalf("refresh: %d %s", a.Status, a.Body)
			}
			passes := harness.Visit{harness.Bingbot, "/x", 200, ""} // the crawler has not fetched the new file
			blocked := harness.Visit{harness.Bingbot, "/private/x", 403, ""}
			harness.Visits(t, s.Server, []harness.Visit{passes, blocked})
			s.MustLoad(strings.Replace(s.Named("after", ""), "http://a.test:", tc.after, 1))
			harness.Visits(t, s.Server, []harness.Visit{passes, blocked})
		})
	}
}
