package guard

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// How many lines one crawler may cause in the log for one host: a burst, then
// one line in an interval.
const (
	violationBurst    = 10
	violationInterval = 10 * time.Second
)

// logLimits keep one crawler from filling the log. What they hold is bounded by
// the label values of crawlers and configured hosts, see [State.UseSites].
type logLimits struct {
	began  time.Time
	now    func() time.Time
	limits sync.Map // violationKey to *logLimit
}

// violationKey consists of label values.
type violationKey struct{ host, crawler string }

// logLimit is the limit of the lines of one crawler. No request waits for another
// one at it.
type logLimit struct {
	rate       limit.Rate
	suppressed atomic.Uint64
}

func newLogLimits(now func() time.Time) *logLimits { return &logLimits{began: now(), now: now} }

// line reports whether a violation is to be logged, and how many were not
// since the last that was.
func (l *logLimits) line(host, crawler string) (suppressed uint64, ok bool) {
	key := violationKey{host, crawler}
	known, found := l.limits.Load(key)
	if !found {
		known, _ = l.limits.LoadOrStore(key, new(logLimit))
	}
	of := known.(*logLimit)
	if !of.rate.Take(l.now().Sub(l.began), violationInterval, violationBurst) {
		of.suppressed.Add(1)
		return 0, false
	}
	return of.suppressed.Swap(0), true
}
