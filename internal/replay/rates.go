package replay

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// rateLimits has the limits that apply to the rate of a request's client. Workers find the limits
// in parallel. [orderedResults] applies them in the order of the log, because earlier requests
// affect the result.
type rateLimits struct {
	// delay is the shortest delay of all versions that the crawler may follow, or 0 for none.
	delay   time.Duration
	limit   *rate.Limit      // limit is nil without a limit.
	crawler *uaident.Crawler // crawler is nil for a client that is not registered.
	host    [2]int           // These are the bounds of the host in chunk.hosts.
}

// isLimited reports whether a Crawl-delay or a configured limit applies to the request.
func (a *rateLimits) isLimited() bool { return a.delay > 0 || a.limit != nil }

// findLimits returns the rate limits for the current request. w.result must be the result of
// judging it by the current version.
func (w *worker) findLimits(k *chunk, current *datedVersion, who *cachedIdentity) (a rateLimits) {
	r := &w.record
	if w.rate == nil || !r.HasTime || w.result.Reason == judge.ReasonExempt || w.result.Reason == judge.ReasonRobotsTxt {
		return a
	}
	q := w.newJudgeRequest(who)
	a.delay = judge.CrawlDelay(w.result.Group, who.client.CrawlDelay()).Interval
	if a.limit = w.rate.FirstLimitForClient(who.client); a.limit != nil && a.limit.Requests == 0 {
		a.limit = nil // Logs do not show concurrent requests.
	}
	if !a.isLimited() || !w.rate.CountsRequest(q.Method, q.Path, current.robots) {
		return rateLimits{}
	}
	a.crawler = who.client.Crawler
	a.host[0] = len(k.hosts)
	k.hosts = append(k.hosts, bytes.ToLower(r.Host)...)
	a.host[1] = len(k.hosts)
	if a.delay == 0 {
		return a
	}
	q.GroupCache = nil // The bound rules belong to the current version.
	for _, v := range current.state.VersionsInGrace(fromUnixNano(r.At), current.graceFor(who)) {
		var scratch judge.Scratch
		var result judge.Result
		current.settings.Judge(&q, judge.Rules{Robots: v.Robots}, &scratch, &result)
		a.delay = min(a.delay, judge.CrawlDelay(result.Group, who.client.CrawlDelay()).Interval)
	}
	return a
}

// queueRateEvent adds the current request to the chunk's events for rates, if a limit applies.
func (w *worker) queueRateEvent(k *chunk, who *cachedIdentity, a rateLimits) {
	if a.isLimited() {
		r := &w.record
		k.events = append(k.events, rateEvent{crawler: who.crawlerNumber, at: r.At, network: parseNetwork(r.Client), limits: a})
	}
}

// isPassed reports whether the server lets the request pass. A blocked request does not affect the
// rate.
func (w *worker) isPassed() bool { return w.result.Action != judge.Blocked }

// countRate counts a request against the limits of its client, and records whether the client is
// too fast.
func (s *orderedResults) countRate(e *rateEvent, k *chunk) {
	delay := e.limits.delay
	key := s.crawlers.lookUpKey(e.crawler)
	client := uaident.Identity{Crawler: e.limits.crawler, Class: key.class}
	rules := s.rate.RulesForClient(&client, verify.Claimed, delay, e.limits.limit)
	rules.Concurrent = 0
	if key.name == otherName {
		key.name = ""
		if e.limits.limit != nil {
			key.name = e.limits.limit.ProductToken()
		}
	}
	who := rate.Client{
		Site:  &policy.Key{Host: unsafeString(k.hosts[e.limits.host[0]:e.limits.host[1]])},
		Token: key.name, Identity: verify.Claimed, IsSharedSoftware: rate.IsSharedSoftware(&client), Network: e.network,
	}
	c := s.tally.crawlerCounts(e.crawler)
	c.limitedRequests++
	c.delay, c.limit = delay, e.limits.limit
	switch pace := s.budgets.ChargeRequest(fromUnixNano(e.at), &who, &rules); {
	case pace.MustSlow:
		c.slowed++
		c.overLimit++
	case pace.IsOverRate:
		c.overLimit++
	}
}

// RateReport has the number of requests of a crawler that exceeded its rate limits.
type RateReport struct {
	CrawlDelay float64 `json:"crawl_delay"` // CrawlDelay is the last delay in seconds, or 0 for none.
	// CrawlDelaySupport says what the operator documents: obeys, ignores or undocumented.
	CrawlDelaySupport string `json:"habit"`
	// Limit is a limit of the configuration, such as "GPTBot 30/1m".
	Limit     string `json:"limit,omitempty"`
	Requests  uint64 `json:"requests"` // Requests is the number of requests that a limit applies to.
	OverLimit uint64 `json:"over"`     // OverLimit is the number of requests over a limit.
	// WouldSlow is the number of requests that rate enforce would answer with 429.
	WouldSlow uint64 `json:"slowed"`
}

// newRateReport returns the report about the rate of a crawler, or nil if no limit applied to its
// requests.
func (p *replayPlan) newRateReport(c *crawlerCount, token string) *RateReport {
	if c.limitedRequests == 0 {
		return nil
	}
	r := &RateReport{CrawlDelay: c.delay.Seconds(), Requests: c.limitedRequests, OverLimit: c.overLimit, WouldSlow: c.slowed, CrawlDelaySupport: "undocumented"}
	if c.limit != nil {
		r.Limit = c.limit.String()
	}
	if known := p.registry.Lookup(token); known != nil {
		r.CrawlDelaySupport = known.CrawlDelay.Support.String()
	}
	return r
}

// writeRates writes a table of crawlers with rate limits. The crawler with the most requests that
// rate enforce would answer with 429 comes first.
func (r *Report) writeRates(w io.Writer) {
	var limited []*CrawlerReport
	var slowed uint64
	for i := range r.Crawlers {
		if c := &r.Crawlers[i]; c.Rate != nil {
			limited = append(limited, c)
			slowed += c.Rate.WouldSlow
		}
	}
	slices.SortStableFunc(limited, func(a, b *CrawlerReport) int {
		return cmp.Or(cmp.Compare(b.Rate.WouldSlow, a.Rate.WouldSlow), cmp.Compare(b.Rate.OverLimit, a.Rate.OverLimit), cmp.Compare(b.Rate.Requests, a.Rate.Requests))
	})
	habits := map[string]string{"obeys": "yes", "ignores": "no", "undocumented": "unknown"}
	writeTable(w, "\n", []string{"CRAWLER", "CRAWL-DELAY", "OBEYS IT", "LIMIT", "COUNTED", "OVER LIMIT", "429"}, limited, maxTableCrawlers, func(c *CrawlerReport) []any {
		return []any{c.Token, c.Rate.CrawlDelay, habits[c.Rate.CrawlDelaySupport], cmp.Or(c.Rate.Limit, "-"), c.Rate.Requests, c.Rate.OverLimit, c.Rate.WouldSlow}
	})
	if len(limited) > 0 {
		fmt.Fprintf(w, "rate enforce would have answered %d requests with 429.\n", slowed)
	}
}
