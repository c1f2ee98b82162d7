package guard

import (
	"net/http/httptest"
	"testing"
)

// TestNothingStatedCostsNothing keeps content_usage_header from costing the pages of
// people memory where the robots.txt states nothing.
func TestNothingStatedCostsNothing(t *testing.T) {
	for robots, wraps := range map[string]bool{
		"User-agent: *\nDisallow: /x\n":                                false,
		"User-agent: *\nContent-Usage: train-ai=n\nDisallow: /x\n":     true,
		"User-agent: bingbot\nContent-Usage: ai-use=n\nDisallow: /x\n": false,
	} {
		g := testGuard(t, options{}, serving(robots))
		g.ContentUsage = true
		g.Judge(requestBy("bingbot/2.0", "/"))
		r, w := browserRequest(), httptest.NewRecorder()
		if got := g.stating(w, r, nil) != w; got != wraps {
			t.Errorf("%q: wrapped: %v", robots, got)
		}
		if n := testing.AllocsPerRun(100, func() { g.stating(w, r, nil) }); n > 0 && !g.shared.Cache.Get(keyFor(r)).State().Good.Robots.HasContentUsage() {
			t.Errorf("%q: %v allocations", robots, n)
		}
	}
}
