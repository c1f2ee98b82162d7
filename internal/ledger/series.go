package ledger

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// Counter is the index of a counter in [CounterValues].
type Counter uint8

// These are the counters by verdict and by action. Buckets are stored in this order, so add new
// counters at the end only.
const (
	CountAllowed Counter = iota
	CountDisallowed
	CountStale
	CountExempt
	CountUnknown
	CountBlocked           // The guard blocked the request.
	CountWouldBlock        // The request passed, but enforce would block it.
	CountAgainstPreference // The request was allowed, but against a preference for the use of the class.
	// These are the requests of CountAgainstPreference by crawlers that had fetched that version.
	CountAgainstAfterFetch
	CountSlowed // The request was refused because it came too early.
	// These two count disallowed requests that were blocked, and that only_log exempted. All other
	// disallowed requests pass until the site enforces.
	CountViolationBlocked
	CountViolationOnlyLogged
	NumCounters
)

// verdictCounters maps verdicts to counters.
var verdictCounters = [...]Counter{
	judge.Allowed: CountAllowed, judge.Disallowed: CountDisallowed, judge.Stale: CountStale,
	judge.Exempt: CountExempt, judge.Unknown: CountUnknown,
}

// counterForVerdict returns the counter for requests with a verdict.
func counterForVerdict(v judge.Verdict) Counter { return verdictCounters[v] }

// CounterValues are the values of all counters, indexed by [Counter].
type CounterValues [NumCounters]uint64

// TotalRequests returns the number of requests with any verdict.
func (c *CounterValues) TotalRequests() (sum uint64) {
	for _, count := range verdictCounters {
		sum += c[count]
	}
	return sum
}

// Add adds the values of other to c.
func (c *CounterValues) Add(other CounterValues) {
	for i, n := range other {
		c[i] += n
	}
}

// Resolution is the length of the steps of a time series: minutes, hours or days.
type Resolution uint8

// These are the resolutions, with the lengths of the time series.
const (
	Minutes Resolution = iota // Buckets of one minute cover the last 6 hours.
	Hours                     // Buckets of one hour cover the last 14 days.
	Days                      // Buckets of one day cover the last 90 days.
	numResolutions
)

// StepLength returns the length of one step.
func (r Resolution) StepLength() time.Duration {
	return [...]time.Duration{time.Minute, time.Hour, 24 * time.Hour}[r]
}

// NumSteps returns the number of steps in a full time series.
func (r Resolution) NumSteps() int { return [...]int{6 * 60, 14 * 24, 90}[r] }

// stepNumber returns the number of the step, counted from the Unix epoch, that contains a time in
// Unix milliseconds.
func (r Resolution) stepNumber(at int64) uint32 {
	return uint32(min(max(at, 0)/r.StepLength().Milliseconds(), math.MaxUint32))
}

// RequestBucket counts the requests in one step of a [Series]. The first element is the number of
// the step since the Unix epoch. The other elements are the counters, which stop at their maximum.
type RequestBucket [1 + NumCounters]uint32

// StartTime returns the start of the bucket's step. r is the resolution of the series.
func (c RequestBucket) StartTime(r Resolution) time.Time {
	return time.UnixMilli(int64(c[0]) * r.StepLength().Milliseconds()).UTC()
}

// CounterValues returns the counters of the bucket.
func (c RequestBucket) CounterValues() (counts CounterValues) {
	for i, n := range c[1:] {
		counts[i] = uint64(n)
	}
	return counts
}

// increment adds 1 to a counter.
func (c *RequestBucket) increment(count Counter) {
	if i := 1 + count; c[i] < math.MaxUint32 {
		c[i]++
	}
}

// addCounts adds the counters of another bucket.
func (c *RequestBucket) addCounts(other *RequestBucket) {
	for i := 1; i < len(c); i++ {
		c[i] += min(other[i], math.MaxUint32-c[i])
	}
}

// Series is a time series of request counters, oldest bucket first. Steps without requests have no
// bucket. A bucket has 52 bytes.
type Series []RequestBucket

// merge adds the buckets of another series of the same resolution. Buckets that become too old are
// dropped.
func (s *Series) merge(r Resolution, other Series) {
	mergeBuckets((*[]RequestBucket)(s), other, uint32(r.NumSteps()), (*RequestBucket).addCounts)
}

// getOrAddBucket returns the bucket of a step, and creates it if necessary. The result is nil if
// the step is too old for the series. Buckets that become too old are dropped.
func (s *Series) getOrAddBucket(r Resolution, stepNumber uint32) *RequestBucket {
	return getOrAddBucket((*[]RequestBucket)(s), stepNumber, uint32(r.NumSteps()))
}

// prune removes buckets that are in the future, older than retention, or too old for the series.
// now is in Unix milliseconds.
func (s *Series) prune(r Resolution, now int64, retention time.Duration) {
	*s = pruneBuckets(*s, r, uint32(r.NumSteps()), now, retention)
}

// Sum returns the sum of the buckets from the step that contains the time from until the step that
// contains the time to, inclusive.
func (s Series) Sum(r Resolution, from, to time.Time) (sum CounterValues) {
	for _, c := range bucketsBetween(s, r, from, to) {
		sum.Add(c.CounterValues())
	}
	return sum
}
