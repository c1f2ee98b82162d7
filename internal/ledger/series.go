package ledger

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// Count is what is counted of requests.
type Count uint8

// The counts: of each verdict, and of what was done about those outside of
// robots.txt. They are stored by their words, see [Stored].
const (
	CountAllowed Count = iota
	CountDisallowed
	CountStale
	CountExempt
	CountUnknown
	CountBlocked    // answered in place of the site
	CountWouldBlock // passed, and enforce would have blocked it
	CountAgainst    // allowed by the rules, and the file states a preference against what the class fetches for
	CountTold       // of these, by who had read that file
	CountSlowed     // answered that it came too early
	// Of the disallowed requests: those that were blocked, and those that only_log lets pass.
	// All other disallowed requests pass until the site enforces.
	CountViolationBlocked
	CountViolationOnlyLogged
	NumCounts
)

var countWords = [NumCounts]string{"allowed", "disallowed", "stale", "exempt", "unknown", "blocked", "would_block", "against_preference", "against_known_preference", "slowed", "violations_blocked", "violations_only_logged"}

// verdictCounts are the counts of the verdicts.
var verdictCounts = [...]Count{
	judge.Allowed: CountAllowed, judge.Disallowed: CountDisallowed, judge.Stale: CountStale,
	judge.Exempt: CountExempt, judge.Unknown: CountUnknown,
}

// countOf returns the count of a verdict.
func countOf(v judge.Verdict) Count { return verdictCounts[v] }

// Counts are numbers of requests by [Count].
type Counts [NumCounts]uint64

// Requests returns the number of all requests.
func (c *Counts) Requests() (sum uint64) {
	for _, count := range verdictCounts {
		sum += c[count]
	}
	return sum
}

// Add adds what another has counted.
func (c *Counts) Add(other Counts) {
	for i, n := range other {
		c[i] += n
	}
}

// Resolution is the length of the steps of a series.
type Resolution uint8

// The resolutions, and how far back each goes.
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

// Steps returns how many steps are kept.
func (r Resolution) Steps() int { return [...]int{6 * 60, 14 * 24, 90}[r] }

// slot returns the number of the step that a time is in, in Unix milliseconds.
func (r Resolution) slot(at int64) uint32 {
	return uint32(min(max(at, 0)/r.Step().Milliseconds(), math.MaxUint32))
}

// Cell is what was counted in one step: the number of the step since the Unix
// epoch, then the counts, which stop at the most that fits.
type Cell [1 + NumCounts]uint32

// At returns the start of the step.
func (c Cell) At(r Resolution) time.Time {
	return time.UnixMilli(int64(c[0]) * r.Step().Milliseconds()).UTC()
}

// Counts returns what was counted.
func (c Cell) Counts() (counts Counts) {
	for i, n := range c[1:] {
		counts[i] = uint64(n)
	}
	return counts
}

// hit counts one more.
func (c *Cell) hit(count Count) {
	if i := 1 + count; c[i] < math.MaxUint32 {
		c[i]++
	}
}

// add adds the counts of another cell.
func (c *Cell) add(other Cell) {
	for i := 1; i < len(c); i++ {
		c[i] += min(other[i], math.MaxUint32-c[i])
	}
}

// Series are counts over time at one resolution: the steps with a request, the
// earliest first. It takes 60 bytes for each.
type Series []Cell

// add adds a cell, unless it is too old. What gets too old by that is dropped.
func (s *Series) add(r Resolution, cell Cell) {
	if c := s.cell(r, cell[0]); c != nil {
		c.add(cell)
	}
}

// cell returns the cell of a step, nil if that is too old. What gets too old by it is
// dropped.
func (s *Series) cell(r Resolution, slot uint32) *Cell {
	return cellAt((*[]Cell)(s), slot, uint32(r.Steps()))
}

// prune drops what is outside of what is kept at now, for retention at most, and what
// is in the future.
func (s *Series) prune(r Resolution, now int64, retention time.Duration) {
	*s = prune(*s, r, uint32(r.Steps()), now, retention)
}

// Sum returns what was counted from the step of one time to that of another.
func (s Series) Sum(r Resolution, from, to time.Time) (sum Counts) {
	for _, c := range between(s, r, from, to) {
		sum.Add(c.Counts())
	}
	return sum
}
