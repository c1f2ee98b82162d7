package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// budget has the request counts and rates of one client, or of all clients with the same name. It
// is safe for concurrent use.
type budget struct {
	key      uint64
	lastUsed atomic.Int64 // lastUsed is the time of the last use, with the precision lastUsedStep.
	// requests counts the requests if a Crawl-delay applies or if instances share the budget.
	requests   requestWindow
	concurrent Concurrency // concurrent counts the concurrent requests.
	// These are rate limiters for the Crawl-delay and for the configured limit.
	crawlDelayRate, configuredRate limit.Rate
	// searchSlowingState is nil until the first request in mode SlowSearch.
	searchSlowingState atomic.Pointer[searchSlowing]
	// refusedRequests are requests of a network that were refused because of the budget of their
	// claimed name. See refundSharedCount.
	refusedRequests limit.Rate

	// sharedID is the same on all instances. It is 0 for a budget that is not shared yet.
	sharedID           atomic.Uint64
	windowLength       atomic.Int64 // windowLength is the length of the window at the last charge.
	otherRequests      atomic.Int64 // otherRequests is the number of requests to other instances in the window.
	otherRequestsUntil atomic.Int64 // otherRequestsUntil is the time of the oldest count in otherRequests.
}

// budgetCharge records the charges of a request, so that refundCharge can undo them. A zero
// interval means no charge.
type budgetCharge struct {
	crawlDelayInterval, configuredInterval time.Duration
	isCounted                              bool
}

// chargeRequest charges a request to a budget and sets the pace. A request over the Crawl-delay or
// over the configured limit is not charged, so the next request is due after at most one interval.
// If slotsFull is true, too many requests run concurrently, and chargeRequest only counts the
// request. sharing is true if other instances charge the budget too.
func (b *budget) chargeRequest(p *Pace, now time.Duration, rules *Rules, sharing, slotsFull bool) (charged budgetCharge) {
	*p = Pace{}
	part, others, nextWait := uint64(0), 0, time.Duration(0)
	if rules.CrawlDelay.Interval > 0 || sharing {
		part = b.requests.addRequest(now, rules.Window)
		charged.isCounted = true
	}
	if sharing {
		if b.windowLength.Load() != int64(rules.Window) {
			b.otherRequests.Store(0) // The value of otherRequests belongs to another window length.
			b.windowLength.Store(int64(rules.Window))
		}
		others = int(b.otherRequests.Load())
	}
	crawlDelay, configured, span := b.ownShareOfRules(now, rules, part, others)
	configuredWait := timeUntilAllowed(&b.configuredRate, now, configured)
	isStopped := configuredWait > 0 || slotsFull
	if crawlDelay.Interval > 0 {
		wait := time.Duration(0)
		if isStopped {
			wait = timeUntilAllowed(&b.crawlDelayRate, now, crawlDelay)
		} else if wait = tryCharge(&b.crawlDelayRate, now, crawlDelay); wait == 0 {
			charged.crawlDelayInterval = crawlDelay.Interval
		}
		if wait > 0 {
			p.Requests = b.requests.sumUntilPart(part) + others
			switch limit := rules.maxRequestsInSpan(span); {
			case p.Requests > limit:
				p.Wait = wait
			case p.Requests == limit && !rules.IgnoresCrawlDelay:
				nextWait = wait // The next request exceeds the Crawl-delay.
			}
		}
	}
	if configured.Interval > 0 {
		if !isStopped && (p.Wait == 0 || rules.IgnoresCrawlDelay) {
			if configuredWait = tryCharge(&b.configuredRate, now, configured); configuredWait == 0 {
				charged.configuredInterval = configured.Interval
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

// refundSharedCount removes a refused request from the count of nameBudget, which all networks with
// the same claimed name share. b is the budget of the request's network. Only a limited number of
// refused requests of each network stays in the count. Otherwise one fast network would use up the
// name's budget at other instances.
func (b *budget) refundSharedCount(nameBudget *budget, charged budgetCharge, now time.Duration, rules *Rules) {
	if charged.isCounted && !b.refusedRequests.Allow(now, max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval), max(rules.CrawlDelay.Burst, rules.ConfiguredLimit.Burst, 1)) {
		nameBudget.requests.subtractRequest(partNumber(now, rules.Window))
	}
}

// timeUntilWithinRate returns the time from now until a request is within the rate, without
// charging a request.
func (b *budget) timeUntilWithinRate(now time.Duration, rules *Rules) (wait time.Duration) {
	part, otherRequests := partNumber(now, rules.Window), int(b.otherRequests.Load())
	crawlDelay, configured, span := b.ownShareOfRules(now, rules, part, otherRequests)
	if wait = timeUntilAllowed(&b.configuredRate, now, configured); crawlDelay.Interval > 0 && !rules.IgnoresCrawlDelay && b.requests.sumUntilPart(part)+otherRequests >= rules.maxRequestsInSpan(span) {
		wait = max(wait, timeUntilAllowed(&b.crawlDelayRate, now, crawlDelay))
	}
	return wait
}

// ownShareOfRules returns this instance's share of the Crawl-delay and of the configured limit, and
// the time covered by the request counts (span). otherRequests is the number of requests to other
// instances.
func (b *budget) ownShareOfRules(now time.Duration, rules *Rules, part uint64, otherRequests int) (crawlDelay, configured Rule, span time.Duration) {
	if crawlDelay, configured, span = rules.CrawlDelay, rules.ConfiguredLimit, rules.Window; otherRequests > 0 {
		ownRequests := b.requests.sumUntilPart(part)
		span = b.spanOfCounts(now, rules.Window)
		crawlDelay = crawlDelay.ownShare(ownRequests, otherRequests, rules.Window)
		if ownRequests+otherRequests > configured.maxRequestsInSpan(span) {
			configured = configured.ownShare(ownRequests, otherRequests, rules.Window)
		}
	}
	return crawlDelay, configured, span
}

// numRecentRequests returns the number of requests to this instance in the last window.
func (b *budget) numRecentRequests(now time.Duration) int {
	return b.requests.sumUntilPart(partNumber(now, time.Duration(b.windowLength.Load())))
}

// tryCharge charges a request and returns 0. If the request is over the rate, tryCharge charges
// nothing and returns the time until a request is within the rate.
func tryCharge(limiter *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if limiter.Allow(now, r.Interval, max(r.Burst, 1)) {
		return 0
	}
	return max(1, timeUntilAllowed(limiter, now, r))
}

// timeUntilAllowed returns the time until a request is within the rate, at most one interval. The
// wait is at most one interval even if earlier requests were charged at a longer interval, for
// example before the rule changed.
func timeUntilAllowed(limiter *limit.Rate, now time.Duration, r Rule) (wait time.Duration) {
	if r.Interval <= 0 {
		return 0
	}
	burst := time.Duration(max(r.Burst, 1))
	limiter.CapUsedBurst(now, burst*r.Interval)
	return max(0, limiter.TimeUntilDue(now)-(burst-1)*r.Interval)
}
