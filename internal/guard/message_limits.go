package guard

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// For one crawler at one host, a burst of log lines is written first, and then one line per
// interval.
const (
	violationBurst    = 10
	violationInterval = 10 * time.Second
)

// messageLimits limits log lines or events about one crawler at one host. Its memory is bounded by the
// label values of crawlers and configured hosts, see [State.UseSettings].
type messageLimits struct {
	startTime time.Time
	now       func() time.Time
	interval  time.Duration // interval is the minimum interval between messages after a burst.
	burst     int           // burst is the number of messages without a minimum interval.
	limits    sync.Map      // The key is a messageLimitKey, and the value is a *messageLimit.
}

// messageLimitKey identifies a limit by the metrics labels of a host and a crawler.
type messageLimitKey struct{ host, crawler string }

// messageLimit limits the messages about one crawler at one host. It takes no lock.
type messageLimit struct {
	rate       limit.Rate
	suppressed atomic.Uint64
}

func newMessageLimits(now func() time.Time, interval time.Duration, burst int) *messageLimits {
	return &messageLimits{startTime: now(), now: now, interval: interval, burst: burst}
}

func newLogLimits(now func() time.Time) *messageLimits {
	return newMessageLimits(now, violationInterval, violationBurst)
}

// allowMessage reports whether a message may be sent now, and returns the number of messages suppressed
// since the last message.
func (l *messageLimits) allowMessage(host, crawler string) (suppressed uint64, ok bool) {
	key := messageLimitKey{host, crawler}
	known, found := l.limits.Load(key)
	if !found {
		known, _ = l.limits.LoadOrStore(key, new(messageLimit))
	}
	limit := known.(*messageLimit)
	if !limit.rate.Allow(l.now().Sub(l.startTime), l.interval, l.burst) {
		limit.suppressed.Add(1)
		return 0, false
	}
	return limit.suppressed.Swap(0), true
}

// removeHostsExcept drops the limits of all hosts for which keep returns false.
func (l *messageLimits) removeHostsExcept(keep func(host string) bool) {
	l.limits.Range(func(key, _ any) bool {
		if !keep(key.(messageLimitKey).host) {
			l.limits.Delete(key)
		}
		return true
	})
}
