package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// budget is the budget of one client. It is safe for concurrent use.
type budget struct {
	key        uint64
	lastUsed   atomic.Int64  // time of the last use; see table.findBudget
	requests   requestWindow // requests to which the Crawl-delay applies
	concurrent Concurrency   // concurrent requests; see Budgets.acquireSlot
	// Requests within the rate, by Crawl-delay and by the configured limit.
	crawlDelayRate, configuredRate limit.Rate
	searchSlowingState             atomic.Pointer[searchSlowing] // nil until a search engine is slowed
	refusedRequests                limit.Rate                    // of a network, by the shared budget of its claimed name; see uncount

	sharedID           atomic.Uint64 // the same on all instances; 0 if not shared yet
	windowLength       atomic.Int64  // of the last window
	otherRequests      atomic.Int64  // requests to other instances in the window
	otherRequestsUntil atomic.Int64  // earliest end of the numbers in otherRequests
}

// charge records what a request was charged: the Crawl-delay, the configured limit, and the count
// of requests.
type charge struct {
	crawlDelayInterval, configuredInterval time.Duration
	isCounted                              bool
}

// chargeRequest charges a request to a budget and sets the pace. A request over the Crawl-delay or over the
// configured limit is not charged, so the next request is due after at most one interval. full is
// true if too many requests run concurrently. Then spend charges nothing. sharing is true if other
// instances charge the budget too.
func (b *budget) chargeRequest(p *Pace, now time.Duration, rules *Rules, sharing, full bool) (charged charge) {
	*p = Pace{}
	part, others, nextWait := uint64(0), 0, time.Duration(0)
	if rules.CrawlDelay.Interval > 0 || sharing {
		part = b.requests.add(now, rules.Window)
		charged.isCounted = true
	}
	if sharing {
		if b.windowLength.Load() != int64(rules.Window) {
			b.otherRequests.Store(0) // the value is for another window
			b.windowLength.Store(int64(rules.Window))
		}
		others = int(b.otherRequests.Load())
	}
	file, owner, span := b.shareOfRules(now, rules, part, others)
	configuredWait := waitUntilAllowed(&b.configuredRate, now, owner)
	isStopped := configuredWait > 0 || full
	if file.Interval > 0 {
		wait := time.Duration(0)
		if isStopped {
			wait = waitUntilAllowed(&b.crawlDelayRate, now, file)
		} else if wait = chargeRate(&b.crawlDelayRate, now, file); wait == 0 {
			charged.crawlDelayInterval = file.Interval
		}
		if wait > 0 {
			p.Requests = b.requests.sum(part) + others
			switch limit := rules.maxRequestsIn(span); {
			case p.Requests > limit:
				p.Wait = wait
			case p.Requests == limit && !rules.IgnoresCrawlDelay:
				nextWait = wait // the next request exceeds the Crawl-delay
			}
		}
	}
	if owner.Interval > 0 {
		if !isStopped && (p.Wait == 0 || rules.IgnoresCrawlDelay) {
			if configuredWait = chargeRate(&b.configuredRate, now, owner); configuredWait == 0 {
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

// refund undoes the charge of a request.
func (b *budget) refund(charged charge) {
	b.crawlDelayRate.Refund(charged.crawlDelayInterval)
	b.configuredRate.Refund(charged.configuredInterval)
}

// refundSharedCount removes a request from the count of a claimed name. The request was over the shared
// budget or over the concurrent limit. refundSharedCount removes it only if its network also exceeds
// its own budget. Otherwise a single fast network would reduce the budget of the name at other
// instances.
func (b *budget) refundSharedCount(all *budget, charged charge, now time.Duration, rules *Rules) {
	if charged.isCounted && !b.refusedRequests.Allow(now, max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval), max(rules.CrawlDelay.Burst, rules.ConfiguredLimit.Burst, 1)) {
		all.requests.subtract(partNumber(now, rules.Window))
	}
}

// waitTime returns the time until a request is within the rate.
func (b *budget) waitTime(now time.Duration, rules *Rules) (wait time.Duration) {
	part, others := partNumber(now, rules.Window), int(b.otherRequests.Load())
	file, owner, span := b.shareOfRules(now, rules, part, others)
	if wait = waitUntilAllowed(&b.configuredRate, now, owner); file.Interval > 0 && !rules.IgnoresCrawlDelay && b.requests.sum(part)+others >= rules.maxRequestsIn(span) {
		wait = max(wait, waitUntilAllowed(&b.crawlDelayRate, now, file))
	}
	return wait
}

// shareOfRules returns the part of the rules for this instance, and the time covered by the request
// counts. others is the number of requests to other instances.
func (b *budget) shareOfRules(now time.Duration, rules *Rules, part uint64, others int) (file, owner Rule, span time.Duration) {
	if file, owner, span = rules.CrawlDelay, rules.ConfiguredLimit, rules.Window; others > 0 {
		ownRequests := b.requests.sum(part)
		span = b.timeCovered(now, rules.Window)
		file = file.shareOf(ownRequests, others, rules.Window)
		if ownRequests+others > owner.maxRequestsIn(span) {
			owner = owner.shareOf(ownRequests, others, rules.Window)
		}
	}
	return file, owner, span
}

// recentRequests returns the number of requests in the last window.
func (b *budget) recentRequests(now time.Duration) int {
	return b.requests.sum(partNumber(now, time.Duration(b.windowLength.Load())))
}

// chargeRate charges a request and returns 0. If the request is over the rate, chargeRate charges
// nothing and returns the time to wait.
func chargeRate(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if pace.Allow(now, r.Interval, max(r.Burst, 1)) {
		return 0
	}
	return max(1, waitUntilAllowed(pace, now, r))
}

// waitUntilAllowed returns the time until a request is within the rate, at most one interval. Requests
// charged at a longer interval do not lead to a longer wait. The interval was longer before the
// rule changed, or while other instances had more requests.
func waitUntilAllowed(pace *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if r.Interval <= 0 {
		return 0
	}
	burst := time.Duration(max(r.Burst, 1))
	pace.CapUsedBurst(now, burst*r.Interval)
	return max(0, pace.TimeUntilDue(now)-(burst-1)*r.Interval)
}
