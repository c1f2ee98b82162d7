package rate

import "time"

// Rule is a rate: a mean interval with a burst. It sets no minimum gap between two requests. The
// zero Rule has no limit.
type Rule struct {
	// Interval is the mean time between two requests.
	Interval time.Duration
	// Burst is the number of requests that may come at once, without an interval between them.
	// Values below 1 mean 1.
	Burst int
}

// Rules are the rate rules for one crawler. The stricter of CrawlDelay and ConfiguredLimit applies.
type Rules struct {
	// CrawlDelay is the Crawl-delay of robots.txt. Requests are over the rate while their average over
	// the last Window exceeds Tolerance times the rate. The average allows for crawlers such as Bing,
	// which fetch once in each period of the length of the delay, at any time.
	CrawlDelay Rule
	Tolerance  float64
	Window     time.Duration
	// ConfiguredLimit is the limit from the configuration. Unlike CrawlDelay, it has no tolerance.
	ConfiguredLimit Rule
	// Concurrent is the configured maximum of concurrent requests, 0 for no limit.
	Concurrent int
	// IgnoresCrawlDelay is true if the crawler ignores Crawl-delay. CrawlDelay is then measured and never
	// enforced.
	IgnoresCrawlDelay bool
	// Mode says what happens to requests over the rate.
	Mode Mode
}

// Mode says what happens to requests over the rate.
type Mode uint8

const (
	Observe Mode = iota // Observe means that requests over the rate are only counted.
	Enforce             // Enforce means that requests over the rate are answered with 429.
	// SlowSearch means that few of these requests are answered with 429. It is for search engines. See
	// [Budgets.ChargeRequest].
	SlowSearch
)

// MaxRequestsInWindow returns the maximum number of requests in a window that are always within the
// Crawl-delay. The number is at least the burst, because the interval may be longer than the
// window.
func (r *Rules) MaxRequestsInWindow() int { return r.maxRequestsInSpan(r.Window) }

// maxRequestsInSpan is like MaxRequestsInWindow for a window of another length.
func (r *Rules) maxRequestsInSpan(span time.Duration) int {
	return int(max(float64(r.CrawlDelay.Burst), r.Tolerance*float64(span)/float64(r.CrawlDelay.Interval)))
}

// Pace is the result of [Budgets.ChargeRequest]: whether a request exceeds the rates of its client,
// and how to respond.
type Pace struct {
	// Requests is the number of requests in the window, including this request. It is 0 for a
	// request within the Crawl-delay.
	Requests int
	// Wait is the time until the next request is within the rate, if no other request comes first.
	// It is 0 if IsOverRate is false.
	Wait time.Duration
	// Slot is the slot that the request holds, or nil. The caller must release the slot after the
	// request.
	Slot *Concurrency
	// IsOverRate is true if the request exceeds the rate.
	IsOverRate bool
	// IsOverLimit is true if the request exceeds the configured limit. If the request also exceeds
	// a Crawl-delay that the crawler obeys, IsOverLimit is true only if the limit has the longer
	// wait.
	IsOverLimit bool
	// IsOverConcurrent is true if too many requests of the client run concurrently. IsOverRate and
	// IsOverLimit are then true too.
	IsOverConcurrent bool
	// MustSlow is true if the caller must answer the request with 429.
	MustSlow bool
	// SlowingEnded is true for the first request over the rate that is passed on because the search
	// engine has been slowed for too long.
	SlowingEnded bool
}

// exceedsEnforcedRate reports whether a request exceeds the configured limit, or a Crawl-delay that its
// crawler obeys.
func (p *Pace) exceedsEnforcedRate(rules *Rules) bool {
	return p.IsOverRate && (p.IsOverLimit || !rules.IgnoresCrawlDelay)
}

// QuotaForInterval converts a mean interval between requests to a number of requests in a window of
// whole seconds. QuotaForInterval returns the shortest window with exactly this rate, or else about
// one request in the interval.
func QuotaForInterval(interval time.Duration) (requests int, window time.Duration) {
	const most = 1000
	for n := 1; n <= most; n++ {
		if window = time.Duration(n) * interval; window%time.Second == 0 {
			return n, window
		}
	}
	if interval < time.Second {
		return int(time.Second / interval), time.Second
	}
	return 1, interval.Truncate(time.Second) + time.Second
}
