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
	refused     limit.Rate              // of a network, by the budget of all who claim its name; see uncount

	name   atomic.Uint64 // on all instances, 0 if nothing was counted for others yet
	length atomic.Int64  // of the window that was counted by last
	others atomic.Int64  // how many other instances have seen in such a window
	until  atomic.Int64  // when the first of those had ended, at the earliest
}

// taken is how much a request has taken from a budget, by what the file asks and what the
// owner has set, and whether it was counted.
type taken struct {
	file, owner time.Duration
	counted     bool
}

// spend takes a request from a budget, and fills in its pace. A request that is one too
// many takes nothing, so that the next one is due after an interval at most, however many
// came: one that is too many by the rule of the file takes nothing by that of the owner
// either, nor the other way round. full says that the request has found no place, so that it
// takes nothing, and sharing that other instances take from the budget, too.
func (b *budget) spend(p *Pace, now time.Duration, rules *Rules, sharing, full bool) (took taken) {
	*p = Pace{}
	part, others, later := uint64(0), 0, time.Duration(0)
	if rules.File.Interval > 0 || sharing {
		part = b.seen.add(now, rules.Window)
		took.counted = true
	}
	if sharing {
		if b.length.Load() != int64(rules.Window) {
			b.others.Store(0) // which was of other windows
			b.length.Store(int64(rules.Window))
		}
		others = int(b.others.Load())
	}
	file, owner, span := b.divided(now, rules, part, others)
	byOwner := ahead(&b.owner, now, owner)
	stopped := byOwner > 0 || full
	if file.Interval > 0 {
		wait := time.Duration(0)
		if stopped {
			wait = ahead(&b.file, now, file)
		} else if wait = take(&b.file, now, file); wait == 0 {
			took.file = file.Interval
		}
		if wait > 0 {
			p.Seen = b.seen.sum(part) + others
			switch most := rules.mostIn(span); {
			case p.Seen > most:
				p.Wait = wait
			case p.Seen == most && !rules.Advisory:
				later = wait // the next one is one too many by the file
			}
		}
	}
	if owner.Interval > 0 {
		if !stopped && (p.Wait == 0 || rules.Advisory) {
			if byOwner = take(&b.owner, now, owner); byOwner == 0 {
				took.owner = owner.Interval
			}
		}
		if byOwner > p.Wait || byOwner > 0 && rules.Advisory {
			p.Wait, p.Limited = byOwner, true
		}
	}
	if p.Over = p.Wait > 0; p.Over {
		p.Wait = max(p.Wait, later)
	}
	return took
}

// giveBack gives back what a request has taken.
func (b *budget) giveBack(took taken) {
	b.file.GiveBack(took.file)
	b.owner.GiveBack(took.owner)
}

// uncount takes back that a request was counted for all who claim a name, if it was one too
// many by their budget, or has found no place, and its network asks more than it may alone.
// Else other instances would take what a single network polls for what many ask, and leave
// less to those who come to them.
func (b *budget) uncount(all *budget, took taken, now time.Duration, rules *Rules) {
	if took.counted && !b.refused.Take(now, max(rules.File.Interval, rules.Owner.Interval), max(rules.File.Burst, rules.Owner.Burst, 1)) {
		all.seen.drop(partOf(now, rules.Window))
	}
}

// next returns how long it is until one that comes then is none too many by what was spent
// until now.
func (b *budget) next(now time.Duration, rules *Rules) (wait time.Duration) {
	part, others := partOf(now, rules.Window), int(b.others.Load())
	file, owner, span := b.divided(now, rules, part, others)
	if wait = ahead(&b.owner, now, owner); file.Interval > 0 && !rules.Advisory && b.seen.sum(part)+others >= rules.mostIn(span) {
		wait = max(wait, ahead(&b.file, now, file))
	}
	return wait
}

// divided returns what rules ask for of this instance while others have seen so many
// requests, and the time in which all have seen what is counted.
func (b *budget) divided(now time.Duration, rules *Rules, part uint64, others int) (file, owner Rule, span time.Duration) {
	if file, owner, span = rules.File, rules.Owner, rules.Window; others > 0 {
		own := b.seen.sum(part)
		span = b.span(now, rules.Window)
		file = file.part(own, others, rules.Window)
		if own+others > owner.most(span) {
			owner = owner.part(own, others, rules.Window)
		}
	}
	return file, owner, span
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
