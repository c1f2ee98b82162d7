package limit

import (
	"math"
	"sync/atomic"
	"time"
)

// Rate is the generic cell rate algorithm in eight bytes. A Rate stores the time at which the
// next event is due at the mean rate. The distance of the stored time from now is the used part
// of the burst. Times are durations since the start of any clock. The caller passes interval
// and burst with each call. Several goroutines may use a Rate at once.
//
// The zero Rate has no events, for a clock that starts at zero. Unlike golang.org/x/time/rate,
// Rate needs no lock and does not wait.
type Rate struct{ due atomic.Int64 }

// Allow reports whether an event is allowed now, at this mean interval and with this burst.
// Allow charges an allowed event.
func (r *Rate) Allow(now, interval time.Duration, burst int) bool {
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

// LimitUsed limits the used part of the burst to a duration. Callers use LimitUsed when the interval has
// become shorter.
func (r *Rate) LimitUsed(now, most time.Duration) {
	for {
		due := r.due.Load()
		if time.Duration(due)-now <= most || r.due.CompareAndSwap(due, int64(now+most)) {
			return
		}
	}
}

// Refund undoes the charge of an event with this interval.
func (r *Rate) Refund(interval time.Duration) { r.due.Add(-int64(interval)) }

// Charge charges an event now, whether allowed or not.
func (r *Rate) Charge(now, interval time.Duration) {
	for {
		due := r.due.Load()
		if r.due.CompareAndSwap(due, int64(max(time.Duration(due), now)+interval)) {
			return
		}
	}
}

// Due returns the time at which the next event is due at the mean rate.
func (r *Rate) Due() time.Duration { return time.Duration(r.due.Load()) }

// UntilDue returns the time from now until Due.
func (r *Rate) UntilDue(now time.Duration) time.Duration { return r.Due() - now }

// Reset removes all events, for any clock.
func (r *Rate) Reset() { r.due.Store(math.MinInt64 / 2) }
