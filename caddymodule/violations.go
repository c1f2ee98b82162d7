package caddymodule

import (
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// How many lines one crawler may cause in the log for one host: a burst, then
// one line in ten seconds.
const (
	violationBurst = 10
	violationRate  = rate.Limit(0.1)
)

// violations keeps one crawler from filling the log. What it holds is bounded
// by the label values of crawlers and hosts.
type violations struct {
	limits sync.Map // violationKey to *violationLimit
}

// violationKey consists of label values.
type violationKey struct{ host, crawler string }

type violationLimit struct {
	lines      *rate.Limiter
	suppressed atomic.Uint64
}

func newViolations() *violations { return new(violations) }

// line reports whether a violation is to be logged, and how many were not
// since the last that was.
func (v *violations) line(host, crawler string) (suppressed uint64, ok bool) {
	key := violationKey{host, crawler}
	known, found := v.limits.Load(key)
	if !found {
		known, _ = v.limits.LoadOrStore(key, &violationLimit{lines: rate.NewLimiter(violationRate, violationBurst)})
	}
	limit := known.(*violationLimit)
	if !limit.lines.Allow() {
		limit.suppressed.Add(1)
		return 0, false
	}
	return limit.suppressed.Swap(0), true
}
