package storage

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestReloadChangesServers gives the host of a site another server with a guard, or takes
// that away: the same host at two servers is two sites, and one that has none beside it has
// another key. Which files crawlers may be using outlives that, so that nobody is blocked for
// a change that it need not know.
func TestReloadChangesServers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		more bool // after the reload, and not before
		next []harness.Visit
	}{
		"one less":                        {false, nil},
		"one more":                        {true, nil},
		"one less, and a reading is next": {false, []harness.Visit{{"GPTBot/1.2", "/robots.txt", 200, ""}}},
		"one more, and a reading is next": {true, []harness.Visit{{"GPTBot/1.2", "/robots.txt", 200, ""}}},
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
			passes := harness.Visit{harness.Bingbot, "/x", 200, ""} // which has not read the new text
			blocked := harness.Visit{harness.Bingbot, "/private/x", 403, ""}
			harness.Visits(t, s.Server, []harness.Visit{passes, blocked})
			s.MustLoad(after)
			harness.Visits(t, s.Server, append(tc.next, passes, blocked))
		})
	}
}

// TestReloadChangesServersWhileHeld does so while a change is held back.
func TestReloadChangesServersWhileHeld(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]bool{"one less": false, "one more": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, text := harness.NewChangingOrigin(t, harness.ClosedRobots)
			s := harness.ServeReloadable(t, o)
			alone := strings.Replace(s.Named("alone", ""), "robots_guard enforce", "robots_guard enforce {\n grace off\n change_guard 1h\n}", 1)
			beside := alone + strings.ReplaceAll("http://a.test:$PORT {\n robots_guard\n respond ok\n}\n", "$PORT", harness.FreePort(t))
			before, after := beside, alone
			if more {
				before, after = alone, beside
			}
			s.MustLoad(before)
			s.Warm("/x")
			text.Store("User-agent: *\nDisallow: /\n")
			if a := harness.Get(t, "http://127.0.0.1:"+s.Admin+"/robots_guard/policies/a.test:"+s.Port+"/refresh", "", harness.Method(http.MethodPost)); a.Status != http.StatusOK {
				t.Fatalf("refresh: %d %s", a.Status, a.Body)
			}
			held := []harness.Visit{{harness.Bingbot, "/x", 200, ""}}
			harness.Visits(t, s.Server, held)
			s.MustLoad(after)
			harness.Visits(t, s.Server, held)
		})
	}
}
