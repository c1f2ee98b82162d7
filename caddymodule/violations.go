package caddymodule

import (
	"sync"
	"sync/atomic"
	"time"
)

// How many lines one crawler may cause in the log for one host: a burst, then
// one line in an interval.
const (
	violationBurst    = 10
	violationInterval = 10 * time.Second
)

// violations keeps one crawler from filling the log. What it holds is bounded
// by the label values of crawlers and hosts.
type violations struct {
	now    func() time.Time
	limits sync.Map // violationKey to *violationLimit
}

// violationKey consists of label values.
type violationKey struct{ host, crawler string }

// violationLimit is the limit of the lines of one crawler. No request waits for
// another one at it.
type violationLimit struct {
	next       atomic.Int64 // when lines would be due if there were no burst, in Unix nanoseconds
	suppressed atomic.Uint64
}

func newViolations() *violations { return &violations{now: time.Now} }

// line reports whether a violation is to be logged, and how many were not
// since the last that was.
func (v *violations) line(host, crawler string) (suppressed uint64, ok bool) {
	key := violationKey{host, crawler}
	known, found := v.limits.Load(key)
	if !found {
		known, _ = v.limits.LoadOrStore(key, new(violationLimit))
	}
	limit := known.(*violationLimit)
	if !limit.take(v.now()) {
		limit.suppressed.Add(1)
		return 0, false
	}
	return limit.suppressed.Swap(0), true
}

// take reports whether another line may be written. It is the generic cell rate
// algorithm.
func (l *violationLimit) take(now time.Time) bool {
	for {
		next := l.next.Load()
		due := max(next, now.UnixNano())
		if due-now.UnixNano() > int64((violationBurst-1)*violationInterval) {
			return false
		}
		if l.next.CompareAndSwap(next, due+int64(violationInterval)) {
			return true
		}
	}
}
