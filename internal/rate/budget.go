package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// budget is the budget of one client. Several goroutines may use it at once.
type budget struct {
	key  uint64
	used atomic.Int64 // time of the last use; see table.find
	seen window       // requests that the Crawl-delay applies to
	busy Places       // concurrent requests; see Budgets.enter
	// Requests within the rate, by Crawl-delay and by the configured limit.
	file, owner limit.Rate
	slowing     atomic.Pointer[slowing] // nil until a search engine is slowed
	refused     limit.Rate              // of a network, by the shared budget of its claimed name; see uncount

	name   atomic.Uint64 // the same on all instances; 0 if not shared yet
	length atomic.Int64  // of the last window
	others atomic.Int64  // requests at other instances in such a window
	until  atomic.Int64  // earliest end of the first of these
}

// taken is the charge of a request to a budget, by Crawl-delay and by the configured limit, and
// whether the request was counted.
type taken struct {
	file, owner time.Duration
	counted     bool
}

// spend charges a request to a budget and fills in its pace. A request over the Crawl-delay or
// over the configured limit is charged to neither, so the next request is due after at most
// one interval. full is true if there are too many concurrent requests, and then nothing is
// charged. sharing is true if other instances charge the budget too.
func (b *budget) spend(p *Pace, now time.Duration, rules *Rules, sharing, full bool) (took taken) {
	*p = Pace{}
	part, others, later := uint64(0), 0, time.Duration(0)
	if rules.File.Interval > 0 || sharing {
		part = b.seen.add(now, rules.Window)
		took.counted = true
	}
	if sharing {
		if b.length.Load() != int64(rules.Window) {
			b.others.Store(0) // the value is for another window
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
				later = wait // the next request exceeds the Crawl-delay
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

// giveBack undoes the charge of a request.
func (b *budget) giveBack(took taken) {
	b.file.GiveBack(took.file)
	b.owner.GiveBack(took.owner)
}

// uncount removes a request from the count of a claimed name. It does so if the request was over
// the shared budget or the concurrent requests, and if its network also exceeds its own budget.
// Otherwise one fast network would reduce the budget of the name at other instances.
func (b *budget) uncount(all *budget, took taken, now time.Duration, rules *Rules) {
	if took.counted && !b.refused.Take(now, max(rules.File.Interval, rules.Owner.Interval), max(rules.File.Burst, rules.Owner.Burst, 1)) {
		all.seen.drop(partOf(now, rules.Window))
	}
}

// next returns the time until a request is within the rate.
func (b *budget) next(now time.Duration, rules *Rules) (wait time.Duration) {
	part, others := partOf(now, rules.Window), int(b.others.Load())
	file, owner, span := b.divided(now, rules, part, others)
	if wait = ahead(&b.owner, now, owner); file.Interval > 0 && !rules.Advisory && b.seen.sum(part)+others >= rules.mostIn(span) {
		wait = max(wait, ahead(&b.file, now, file))
	}
	return wait
}

// divided returns the rules for this instance while other instances have this number of
// requests, and the window of the counts.
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

// recent returns the number of requests in the last window.
func (b *budget) recent(now time.Duration) int {
	return b.seen.sum(partOf(now, time.Duration(b.length.Load())))
}

// take charges a request and returns 0. If there is no room, it returns the time until there is.
func take(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if pace.Take(now, r.Interval, max(r.Burst, 1)) {
		return 0
	}
	return max(1, ahead(pace, now, r))
}

// ahead returns the time until there is room for a request. It is at most one interval. Requests
// that were charged at a longer interval, before the rule changed or while other instances had
// more requests, do not lead to a longer wait.
func ahead(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if r.Interval <= 0 {
		return 0
	}
	burst := time.Duration(max(r.Burst, 1))
	pace.Trim(now, burst*r.Interval)
	return max(0, pace.Ahead(now)-(burst-1)*r.Interval)
}
