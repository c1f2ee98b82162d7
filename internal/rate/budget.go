package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// budget has the requests of one client, or of all clients with one name, that count against its
// rates. It is safe for concurrent use.
type budget struct {
	key        uint64
	lastUsed   atomic.Int64  // time of the last use; see table.findBudget
	requests   requestWindow // requests to which the Crawl-delay applies
	concurrent Concurrency   // concurrent requests; see Budgets.acquireSlot
	// These rates contain the charged requests, by Crawl-delay and by the configured limit.
	crawlDelayRate, configuredRate limit.Rate
	searchSlowingState             atomic.Pointer[searchSlowing] // nil until a search engine is slowed
	refusedRequests                limit.Rate                    // of a network, by the shared budget of its claimed name; see refundSharedCount

	sharedID           atomic.Uint64 // the same on all instances; 0 if not shared yet
	windowLength       atomic.Int64  // of the last window
	otherRequests      atomic.Int64  // requests to other instances in the window
	otherRequestsUntil atomic.Int64  // earliest end of the numbers in otherRequests
}

// budgetCharge records what a request was charged, so that the charge can be undone: the
// Crawl-delay, the configured limit, and the count of requests.
type budgetCharge struct {
	crawlDelayInterval, configuredInterval time.Duration
	isCounted                              bool
}

// chargeRequest charges a request to a budget and sets the pace. A request over the Crawl-delay or
// over the configured limit is not charged, so the next request is due after at most one interval.
// If full is true, too many requests run concurrently, and chargeRequest only counts the request.
// sharing is true if other instances charge the budget too.
func (b *budget) chargeRequest(p *Pace, now time.Duration, rules *Rules, sharing, full bool) (charged budgetCharge) {
	*p = Pace{}
	part, others, nextWait := uint64(0), 0, time.Duration(0)
	if rules.CrawlDelay.Interval > 0 || sharing {
		part = b.requests.addRequest(now, rules.Window)
		charged.isCounted = true
	}
	if sharing {
		if b.windowLength.Load() != int64(rules.Window) {
			b.otherRequests.Store(0) // the value is for another window
			b.windowLength.Store(int64(rules.Window))
		}
		others = int(b.otherRequests.Load())
	}
	file, owner, span := b.ownShareOfRules(now, rules, part, others)
	configuredWait := timeUntilAllowed(&b.configuredRate, now, owner)
	isStopped := configuredWait > 0 || full
	if file.Interval > 0 {
		wait := time.Duration(0)
		if isStopped {
			wait = timeUntilAllowed(&b.crawlDelayRate, now, file)
		} else if wait = tryCharge(&b.crawlDelayRate, now, file); wait == 0 {
			charged.crawlDelayInterval = file.Interval
		}
		if wait > 0 {
			p.Requests = b.requests.sumUntilPart(part) + others
			switch limit := rules.maxRequestsInSpan(span); {
			case p.Requests > limit:
				p.Wait = wait
			case p.Requests == limit && !rules.IgnoresCrawlDelay:
				nextWait = wait // the next request exceeds the Crawl-delay
			}
		}
	}
	if owner.Interval > 0 {
		if !isStopped && (p.Wait == 0 || rules.IgnoresCrawlDelay) {
			if configuredWait = tryCharge(&b.configuredRate, now, owner); configuredWait == 0 {
				charged.configuredInterval = owner.Interval
			}
		}
		if configuredWait > p.Wait || configuredWait > 0 && rules.IgnoresCrawlDelay {
			p.Wait, p.IsOverLimit = configuredWait, true
		}
	}
	if p.IsOverRate = p.Wait > 0; p.IsOverRate {
		p.Wait = max(p.Wait, nextWait)
	}
	return charged
}

// refundCharge undoes the charge of a request to the rates of a budget. The request stays in the
// count of requests.
func (b *budget) refundCharge(charged budgetCharge) {
	b.crawlDelayRate.Refund(charged.crawlDelayInterval)
	b.configuredRate.Refund(charged.configuredInterval)
}

// refundSharedCount removes a request from the count of all, the shared budget of a claimed name. b
// is the budget of the request's network. The request was over the shared budget or over the
// concurrent limit. It stays in the count while b has room for refused requests. Otherwise a single
// fast network would reduce the budget of the name at other instances.
func (b *budget) refundSharedCount(all *budget, charged budgetCharge, now time.Duration, rules *Rules) {
	if charged.isCounted && !b.refusedRequests.Allow(now, max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval), max(rules.CrawlDelay.Burst, rules.ConfiguredLimit.Burst, 1)) {
		all.requests.subtractRequest(partNumber(now, rules.Window))
	}
}

// timeUntilWithinRate returns the time from now until a request is within the rate, without
// charging a request.
func (b *budget) timeUntilWithinRate(now time.Duration, rules *Rules) (wait time.Duration) {
	part, others := partNumber(now, rules.Window), int(b.otherRequests.Load())
	file, owner, span := b.ownShareOfRules(now, rules, part, others)
	if wait = timeUntilAllowed(&b.configuredRate, now, owner); file.Interval > 0 && !rules.IgnoresCrawlDelay && b.requests.sumUntilPart(part)+others >= rules.maxRequestsInSpan(span) {
		wait = max(wait, timeUntilAllowed(&b.crawlDelayRate, now, file))
	}
	return wait
}

// ownShareOfRules returns this instance's share of the Crawl-delay (file) and of the configured
// limit (owner), and the time covered by the request counts (span). others is the number of
// requests to other instances.
func (b *budget) ownShareOfRules(now time.Duration, rules *Rules, part uint64, others int) (file, owner Rule, span time.Duration) {
	if file, owner, span = rules.CrawlDelay, rules.ConfiguredLimit, rules.Window; others > 0 {
		ownRequests := b.requests.sumUntilPart(part)
		span = b.spanOfCounts(now, rules.Window)
		file = file.ownShare(ownRequests, others, rules.Window)
		if ownRequests+others > owner.maxRequestsInSpan(span) {
			owner = owner.ownShare(ownRequests, others, rules.Window)
		}
	}
	return file, owner, span
}

// numRecentRequests returns the number of requests to this instance in the last window.
func (b *budget) numRecentRequests(now time.Duration) int {
	return b.requests.sumUntilPart(partNumber(now, time.Duration(b.windowLength.Load())))
}

// tryCharge charges a request and returns 0. If the request is over the rate, tryCharge charges
// nothing and returns the time until a request is within the rate.
func tryCharge(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if pace.Allow(now, r.Interval, max(r.Burst, 1)) {
		return 0
	}
	return max(1, timeUntilAllowed(pace, now, r))
}

// timeUntilAllowed returns the time until a request is within the rate, at most one interval.
// Requests charged at a longer interval do not lead to a longer wait. The interval was longer
// before the rule changed, or while other instances had more requests.
func timeUntilAllowed(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if r.Interval <= 0 {
		return 0
	}
	burst := time.Duration(max(r.Burst, 1))
	pace.CapUsedBurst(now, burst*r.Interval)
	return max(0, pace.TimeUntilDue(now)-(burst-1)*r.Interval)
}
