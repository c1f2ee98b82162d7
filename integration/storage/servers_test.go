package storage

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestReloadChangesServers adds or removes another server with a guard for the host of
// a site. The same host at two servers is two sites, so the key of the site changes.
// The guard keeps the list of files that crawlers may be using, so that no crawler is
// blocked for an unknown change.
func TestReloadChangesServers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		more bool // after the reload but not before
		next []harness.Visit
	}{
		"one less":               {false, nil},
		"one more":               {true, nil},
		"one less, then a fetch": {false, []harness.Visit{{"GPTBot/1.2", "/robots.txt", 200, ""}}},
		"one more, then a fetch": {true, []harness.Visit{{"GPTBot/1.2", "/robots.txt", 200, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, text := harness.NewChangingOrigin(t, harness.ClosedRobots)
			s := harness.ServeReloadable(t, o)
			alone := s.Named("alone", "")
			beside := alone + strings.ReplaceAll("http://a.test:$PORT {\n robots_guard\n respond ok\n}\n", "$PORT", harness.FreePort(t))
			before, after := beside, alone
			if tc.more {
				before, after = alone, beside
			}
			s.MustLoad(before)
			s.Warm("/")
			text.Store(harness.ClosedRobots + "\nUser-agent: bingbot\nDisallow: /\n")
			if a := harness.Get(t, "http://127.0.0.1:"+s.Admin+"/robots_guard/policies/a.test:"+s.Port+"/refresh", "", harness.Method(http.MethodPost)); a.Status != http.StatusOK {
				t.Fatalf("refresh: %d %s", a.Status, a.Body)
			}
			passes := harness.Visit{harness.Bingbot, "/x", 200, ""} // the crawler has not fetched the new file
			blocked := harness.Visit{harness.Bingbot, "/private/x", 403, ""}
			harness.Visits(t, s.Server, []harness.Visit{passes, blocked})
			s.MustLoad(after)
			harness.Visits(t, s.Server, append(tc.next, passes, blocked))
		})
	}
}
