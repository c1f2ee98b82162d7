package guard

import (
	"cmp"
	"sync/atomic"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// flight is what a request has taken while it is under way: a place of its crawler's,
// and one in the count of all. It stands in the judgement, so that it costs no memory
// of its own. The zero flight has taken nothing.
type flight struct {
	place *rate.Places  // nil for none
	under *atomic.Int64 // in which it is counted, nil if it is not
	holds *rate.Places  // where it has a place, also one that a guard in front has taken
	ended uint32        // 1 once it has given back all, for which a handler behind may have goroutines
}

// take notes a place that was taken, nil for none, or one that a guard in front holds.
func (f *flight) take(place, before *rate.Places) {
	f.place, f.holds = place, cmp.Or(place, before)
}

// count counts the request among those that are under way.
func (f *flight) count(under *atomic.Int64) {
	under.Add(1)
	f.under = under
}

// end gives back what the request has taken. It may be called again.
func (f *flight) end() {
	if !atomic.CompareAndSwapUint32(&f.ended, 0, 1) {
		return
	}
	if f.place != nil {
		f.place.Leave()
	}
	f.holds = nil // a guard in an error route takes one of its own
	if f.under != nil {
		f.under.Add(-1)
	}
}
