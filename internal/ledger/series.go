package ledger

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// Count identifies a counter of requests.
type Count uint8

// The counters by verdict and by action. Cells are stored in this order, so add new counters at
// the end only.
const (
	CountAllowed Count = iota
	CountDisallowed
	CountStale
	CountExempt
	CountUnknown
	CountBlocked    // refused by the guard
	CountWouldBlock // passed, but enforce would block
	CountAgainst    // allowed, but against a preference for the use of the class
	CountTold       // CountAgainst by crawlers that fetched that version
	CountSlowed     // refused as too early
	// Disallowed requests that were blocked, and that only_log exempted. All other disallowed
	// requests pass until the site enforces.
	CountViolationBlocked
	CountViolationOnlyLogged
	NumCounts
)

// verdictCounts maps verdicts to counters.
var verdictCounts = [...]Count{
	judge.Allowed: CountAllowed, judge.Disallowed: CountDisallowed, judge.Stale: CountStale,
	judge.Exempt: CountExempt, judge.Unknown: CountUnknown,
}

// verdictCount returns the counter of a verdict.
func verdictCount(v judge.Verdict) Count { return verdictCounts[v] }

// Counts are the values of all counters.
type Counts [NumCounts]uint64

// Requests returns the number of all requests.
func (c *Counts) Requests() (sum uint64) {
	for _, count := range verdictCounts {
		sum += c[count]
	}
	return sum
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	for i, n := range other {
		c[i] += n
	}
}

// Resolution is the length of a step in a series.
type Resolution uint8

// The resolutions with the lengths of their series.
const (
	Minutes Resolution = iota // 6 hours
	Hours                     // 14 days
	Days                      // 90 days
	numResolutions
)

// Step returns the length of a step.
func (r Resolution) Step() time.Duration {
	return [...]time.Duration{time.Minute, time.Hour, 24 * time.Hour}[r]
}

// Steps returns the length of a series in steps.
func (r Resolution) Steps() int { return [...]int{6 * 60, 14 * 24, 90}[r] }

// slot returns the number of the step at a time in Unix milliseconds.
func (r Resolution) slot(at int64) uint32 {
	return uint32(min(max(at, 0)/r.Step().Milliseconds(), math.MaxUint32))
}

// Cell contains the number of a step since the Unix epoch, and the saturating counters.
type Cell [1 + NumCounts]uint32

// At returns the start of the step.
func (c Cell) At(r Resolution) time.Time {
	return time.UnixMilli(int64(c[0]) * r.Step().Milliseconds()).UTC()
}

// Counts returns the counters of the cell.
func (c Cell) Counts() (counts Counts) {
	for i, n := range c[1:] {
		counts[i] = uint64(n)
	}
	return counts
}

// increment increments a counter.
func (c *Cell) increment(count Count) {
	if i := 1 + count; c[i] < math.MaxUint32 {
		c[i]++
	}
}

// addCounts adds the counters of other.
func (c *Cell) addCounts(other *Cell) {
	for i := 1; i < len(c); i++ {
		c[i] += min(other[i], math.MaxUint32-c[i])
	}
}

// Series is a list of cells at one resolution, oldest first. Steps without requests have no
// cell. A cell has 52 bytes.
type Series []Cell

// merge adds the cells of another series. Cells that become too old are dropped.
func (s *Series) merge(r Resolution, other Series) {
	mergeCells((*[]Cell)(s), other, uint32(r.Steps()), (*Cell).addCounts)
}

// cell returns the cell of a step, or nil if the step is too old. Cells that become too old are
// dropped.
func (s *Series) cell(r Resolution, slot uint32) *Cell {
	return cellAt((*[]Cell)(s), slot, uint32(r.Steps()))
}

// prune drops cells older than the series or than retention, or in the future.
func (s *Series) prune(r Resolution, now int64, retention time.Duration) {
	*s = prune(*s, r, uint32(r.Steps()), now, retention)
}

// Sum returns the sum of the cells from one time to another, inclusive.
func (s Series) Sum(r Resolution, from, to time.Time) (sum Counts) {
	for _, c := range cellsBetween(s, r, from, to) {
		sum.Add(c.Counts())
	}
	return sum
}
