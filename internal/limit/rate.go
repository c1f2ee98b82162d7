package limit

import (
	"math"
	"sync/atomic"
	"time"
)

// Rate is the generic cell rate algorithm in eight bytes. It remembers when the
// next one were due if each had come in its time; how far that runs ahead of the
// clock is how much of a burst is used up. Times are those of any clock, from its
// beginning; how much is allowed the caller says each time. Several goroutines may
// use a Rate at once.
//
// Nothing has happened yet for the zero Rate, by a clock that begins at zero.
// golang.org/x/time/rate does the same with a lock, and with waiting.
type Rate struct{ due atomic.Int64 }

// Take reports whether one more may happen now, of those that may come at an
// interval or so many at once, and counts it if so.
func (r *Rate) Take(now, interval time.Duration, burst int) bool {
	for {
		due := r.due.Load()
		next := max(time.Duration(due), now)
		if next-now > time.Duration(burst-1)*interval {
			return false
		}
		if r.due.CompareAndSwap(due, int64(next+interval)) {
			return true
		}
	}
}

// Trim forgets what runs further ahead of the clock than a duration, as it may where
// the interval has become shorter.
func (r *Rate) Trim(now, most time.Duration) {
	for {
		due := r.due.Load()
		if time.Duration(due)-now <= most || r.due.CompareAndSwap(due, int64(now+most)) {
			return
		}
	}
}

// GiveBack forgets one that was taken at an interval.
func (r *Rate) GiveBack(interval time.Duration) { r.due.Add(-int64(interval)) }

// Count counts one that happens now, allowed or not.
func (r *Rate) Count(now, interval time.Duration) {
	for {
		due := r.due.Load()
		if r.due.CompareAndSwap(due, int64(max(time.Duration(due), now)+interval)) {
			return
		}
	}
}

// Due returns when the next one were due if each had come in its time.
func (r *Rate) Due() time.Duration { return time.Duration(r.due.Load()) }

// Ahead returns how far that is ahead of the clock.
func (r *Rate) Ahead(now time.Duration) time.Duration { return r.Due() - now }

// Reset forgets all that has happened, by whatever clock.
func (r *Rate) Reset() { r.due.Store(math.MinInt64 / 2) }
