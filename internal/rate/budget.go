package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// budget is what somebody may spend. Several goroutines may use it at once.
type budget struct {
	key  uint64
	used atomic.Int64 // when it was spent from last; see table.find
	seen window       // of all requests that the file asks to be fewer
	// Those that are none too many, by what the file asks and what the owner has set.
	file, owner limit.Rate
}

// spend takes a request from a budget. What is one too many takes nothing, so that
// the next one is due after an interval at most, however many came.
func (b *budget) spend(now time.Duration, rules *Rules) (p Pace) {
	if rules.File.Interval > 0 {
		part := b.seen.add(now, rules.Window)
		if wait := take(&b.file, now, rules.File); wait > 0 {
			if p.Seen = b.seen.sum(part); p.Seen > rules.Most() {
				p.Wait = wait
			}
		}
	}
	if rules.Owner.Interval > 0 {
		p.Wait = max(p.Wait, take(&b.owner, now, rules.Owner))
	}
	p.Over = p.Wait > 0
	return p
}

// take takes a request and returns 0, or how long it is until there is room for one.
func take(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	burst := max(r.Burst, 1)
	if pace.Take(now, r.Interval, burst) {
		return 0
	}
	return max(1, pace.Ahead(now)-time.Duration(burst-1)*r.Interval)
}
