package faults

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestFaultUnreachable tests each value of unreachable for a robots.txt that has never
// been fetched.
func TestFaultUnreachable(t *testing.T) {
	t.Parallel()
	for _, choice := range []string{"last_good", "allow", "disallow"} {
		t.Run(choice, func(t *testing.T) {
			t.Parallel()
			var well atomic.Bool
			o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/robots.txt" && !well.Load() {
					w.WriteHeader(http.StatusInternalServerError)
					return true
				}
				return false
			})
			s := harness.Serve(t, `http://a.test:$PORT {
				robots_guard enforce {
					unreachable $CHOICE
					fetch_wait 4s
				}
				reverse_proxy $ORIGIN
			}`, "$CHOICE", choice, "$ORIGIN", o.Address())
			if choice == "disallow" {
				a := harness.Get(t, s.URL("/page"), harness.Bingbot)
				if a.Status != 503 || a.Header.Get("Retry-After") == "" || a.Header.Get("Cache-Control") != "no-store" ||
					!strings.Contains(a.Body, "cannot be read") {
					t.Errorf("got %d %v %q", a.Status, a.Header, a.Body)
				}
				if n := s.Metrics().Sum(harness.RequestsMetric, `verdict="unknown"`, `action="blocked"`); n != 1 {
					t.Errorf("%v requests counted as unknown and blocked, want 1", n)
				}
				if lines := s.Await("request while robots.txt is unreachable", 1); len(lines) != 1 {
					t.Errorf("%d log lines, want 1", len(lines))
				}
			} else if a := harness.Get(t, s.URL("/page"), harness.Bingbot); a.Status != 200 {
				t.Errorf("got %d", a.Status)
			}
			harness.Visits(t, s, []harness.Visit{
				{harness.Firefox, "/page", 200, "origin"},
				{"", "/page", 200, "origin"},
				{harness.Curl, "/page", 200, "origin"},
				{harness.UptimeRobot, "/page", 200, "origin"},
				{harness.GPTBot, "/robots.txt", 500, ""}, // passed through
			})
			// The guard retries soon, and then applies the rules.
			well.Store(true)
			harness.Eventually(t, "the rules of robots.txt apply", func() bool {
				return harness.Get(t, s.URL("/private/x"), harness.Bingbot).Status == 403
			})
			harness.Visits(t, s, []harness.Visit{{harness.Bingbot, "/page", 200, "origin"}})
			if lines := s.Await("robots.txt can be read again", 1); len(lines) != 1 {
				t.Errorf("%d log lines about the recovery, want 1", len(lines))
			}
		})
	}
}
