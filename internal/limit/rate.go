package limit

import (
	"math"
	"sync/atomic"
	"time"
)

// Rate is a rate limiter with a burst in eight bytes (the generic cell rate algorithm). It stores
// the time at which the next event is due at the mean rate. The time from now until the stored time
// is the used part of the burst. Times are durations since the start of any clock. The caller
// passes interval and burst with each call. Several goroutines may use a Rate at once.
//
// The zero Rate has no events, for a clock that starts at zero. Unlike golang.org/x/time/rate, Rate
// needs no lock and does not wait.
type Rate struct{ dueTime atomic.Int64 }

// Allow reports whether an event is allowed now, at this mean interval and with this burst.
// Allow charges an allowed event.
func (r *Rate) Allow(now, interval time.Duration, burst int) bool {
	for {
		due := r.dueTime.Load()
		next := max(time.Duration(due), now)
		if next-now > time.Duration(burst-1)*interval {
			return false
		}
		if r.dueTime.CompareAndSwap(due, int64(next+interval)) {
			return true
		}
	}
}

// CapUsedBurst reduces the used part of the burst to at most maximum. Callers do this after the
// interval has become shorter.
func (r *Rate) CapUsedBurst(now, maximum time.Duration) {
	for {
		due := r.dueTime.Load()
		if time.Duration(due)-now <= maximum || r.dueTime.CompareAndSwap(due, int64(now+maximum)) {
			return
		}
	}
}

// Refund undoes the charge of an event with this interval.
func (r *Rate) Refund(interval time.Duration) { r.dueTime.Add(-int64(interval)) }

// Charge charges an event now, even if [Rate.Allow] would not allow the event.
func (r *Rate) Charge(now, interval time.Duration) {
	for {
		due := r.dueTime.Load()
		if r.dueTime.CompareAndSwap(due, int64(max(time.Duration(due), now)+interval)) {
			return
		}
	}
}

// DueTime returns the time at which the next event is due at the mean rate.
func (r *Rate) DueTime() time.Duration { return time.Duration(r.dueTime.Load()) }

// TimeUntilDue returns the time from now until DueTime.
func (r *Rate) TimeUntilDue(now time.Duration) time.Duration { return r.DueTime() - now }

// Reset removes all events, also for a clock with another start.
func (r *Rate) Reset() { r.dueTime.Store(math.MinInt64 / 2) }
