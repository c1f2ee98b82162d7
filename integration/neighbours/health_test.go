package neighbours

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestHealthChecks makes the self-test fetch a failing robots.txt through a proxy with
// passive health checks. Pages must stay available.
func TestHealthChecks(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/robots.txt" {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		asked.Add(1)
		return true
	}).AnswerSelfTest()
	s := harness.Serve(t, "http://a.test:$PORT {\nrobots_guard enforce\n"+
		"reverse_proxy $O {\nfail_duration 1h\nunhealthy_status 5xx\n}\n}", "$O", o.Address())
	harness.Eventually(t, "the self-test has ended", func() bool { return asked.Load() == 2 })
	for range 10 {
		if got := harness.Get(t, s.URL("/page"), harness.Firefox).Status; got != http.StatusOK {
			t.Fatalf("after the guard's request a page gets %d", got)
		}
	}
}
