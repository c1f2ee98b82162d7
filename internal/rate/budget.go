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
	busy Places       // of requests that are under way; see Budgets.enter
	// Those that are none too many, by what the file asks and what the owner has set.
	file, owner limit.Rate
	slowing     atomic.Pointer[slowing] // nil until some are slowed as those of a search engine

	name   atomic.Uint64 // on all instances, 0 if nothing was counted for others yet
	length atomic.Int64  // of the window that was counted by last
	others atomic.Int64  // how many other instances have seen in that time
}

// spend takes a request from a budget. What is one too many takes nothing, so that
// the next one is due after an interval at most, however many came; nor does what is
// one too many by one rule take anything by the other, nor does what finds no place,
// which full says; p is what is known of its pace then. sharing says that other instances take from it, too.
func (b *budget) spend(p *Pace, now time.Duration, rules *Rules, sharing, full bool) {
	*p = Pace{}
	file, owner, others, part := rules.File, rules.Owner, 0, uint64(0)
	if file.Interval > 0 || sharing {
		part = b.seen.add(now, rules.Window)
	}
	if sharing {
		b.length.Store(int64(rules.Window))
		if others = int(b.others.Load()); others > 0 {
			own := b.seen.sum(part)
			file = file.part(own, others, rules.Window)
			if own+others > owner.most(rules.Window) {
				owner = owner.part(own, others, rules.Window)
			}
		}
	}
	byOwner := ahead(&b.owner, now, owner)
	stopped := byOwner > 0 || full
	if file.Interval > 0 {
		wait := time.Duration(0)
		if stopped {
			wait = ahead(&b.file, now, file)
		} else {
			wait = take(&b.file, now, file)
		}
		if wait > 0 {
			if p.Seen = b.seen.sum(part) + others; p.Seen > rules.Most() {
				p.Wait = wait
			}
		}
	}
	if owner.Interval > 0 {
		if !stopped && (p.Wait == 0 || rules.Advisory) {
			byOwner = take(&b.owner, now, owner)
		}
		if byOwner > p.Wait || byOwner > 0 && rules.Advisory {
			p.Wait, p.Limited = byOwner, true
		}
	}
	p.Over = p.Wait > 0
}

// recent returns how many requests were counted in the last window.
func (b *budget) recent(now time.Duration) int {
	return b.seen.sum(partOf(now, time.Duration(b.length.Load())))
}

// take takes a request and returns 0, or how long it is until there is room for one.
func take(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if pace.Take(now, r.Interval, max(r.Burst, 1)) {
		return 0
	}
	return max(1, ahead(pace, now, r))
}

// ahead returns how long it is until there is room for a request, 0 if there is. It is
// an interval at most: what was spent by a longer one, before the owner or the file has
// asked for less, or while others have seen more, is not held against anybody.
func ahead(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if r.Interval <= 0 {
		return 0
	}
	burst := time.Duration(max(r.Burst, 1))
	pace.Trim(now, burst*r.Interval)
	return max(0, pace.Ahead(now)-(burst-1)*r.Interval)
}
