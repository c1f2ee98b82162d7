package publish

import (
	"testing"
	"time"
)

// TestPageAllocatesNothing checks that a request for a robots.txt allocates no memory, even during a
// trial.
func TestPageAllocatesNothing(t *testing.T) {
	all, tried := newSchedule(t, disallow("GPTBot")), newSchedule(t, disallow("ClaudeBot"))
	p := newPublisher(all, new(bases), time.Now)
	r := asks(serverFor("a.test"), "a.test")
	for _, canary := range []string{"", "a.test"} {
		p.serve(all, tried, canary)
		p.Page(r)
		if n := testing.AllocsPerRun(100, func() {
			if page, _ := p.Page(r); page == nil {
				t.Fatal("no page")
			}
		}); n > 0 {
			t.Errorf("canary at %q: %v allocations", canary, n)
		}
	}
}
