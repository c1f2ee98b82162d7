package ledger

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Answer is the site's response to a crawler's request that passed the guard. Site, Token and Class
// have the values of the [Request].
type Answer struct {
	At            time.Time // time of the request
	Site          string
	Token         string
	NamedByRobots bool
	Class         uaident.Class
	Identity      verify.State
	Kind          responseaudit.Kind
	Status        responseaudit.Status
	Bytes         int64 // size of the body, as sent by the handlers behind the guard
}

// ResponseKindOf returns the kind of a request with a verdict. Robots fetches have a kind of their
// own.
func ResponseKindOf(v judge.Verdict) responseaudit.Kind {
	switch v {
	case judge.Allowed:
		return responseaudit.KindAllowed
	case judge.Disallowed, judge.Stale:
		return responseaudit.KindForbidden
	}
	return responseaudit.KindNoRule
}

// RecordAnswer records an answer. See [Ledger.Record]. The ledger retains the strings of a until the
// next count.
func (l *Ledger) RecordAnswer(a *Answer) {
	b := l.lockBuffer()
	b.answers = append(b.answers, *a)
	l.releaseBuffer(b)
}

func (w *Row) countAnswer(a *Answer) {
	if at := a.At.UnixMilli(); w.FirstSeen == 0 { // its request is not yet counted
		w.FirstSeen, w.LastSeen = at, at
	}
	i, size := answerIndex(a.Kind, a.Status), uint64(max(a.Bytes, 0))
	w.Answers.count(a.At.UnixMilli(), func(c *AnswerCell) {
		if c[i] < math.MaxUint32 {
			c[i]++
		}
		c.addBytes(size)
	})
}

// AnswerCell occupies 124 bytes. It contains the number of a step since the Unix epoch, the saturating counts by
// kind and status, and the bytes as two words, the low word first.
type AnswerCell [1 + answerCounts + 2]uint32

const answerCounts = int(responseaudit.NumKinds) * int(responseaudit.NumStatuses)

// At returns the start of the step.
func (c AnswerCell) At(r Resolution) time.Time { return Cell{c[0]}.At(r) }

// Counts returns the counts of the cell.
func (c AnswerCell) Counts() (counts responseaudit.Counts) {
	for kind := range counts.ByKindAndStatus {
		for status := range counts.ByKindAndStatus[kind] {
			counts.ByKindAndStatus[kind][status] = uint64(c[answerIndex(responseaudit.Kind(kind), responseaudit.Status(status))])
		}
	}
	counts.Bytes = c.bytes()
	return counts
}

func answerIndex(kind responseaudit.Kind, status responseaudit.Status) int {
	return 1 + int(kind)*int(responseaudit.NumStatuses) + int(status)
}

func (c *AnswerCell) bytes() uint64 {
	return uint64(c[1+answerCounts]) | uint64(c[2+answerCounts])<<32
}

// addCounts adds the counts of other.
func (c *AnswerCell) addCounts(other *AnswerCell) {
	for i := 1; i <= answerCounts; i++ {
		c[i] += min(other[i], math.MaxUint32-c[i])
	}
	c.addBytes(other.bytes())
}

func (c *AnswerCell) addBytes(n uint64) {
	sum := c.bytes() + n
	if sum < n {
		sum = math.MaxUint64
	}
	c[1+answerCounts], c[2+answerCounts] = uint32(sum), uint32(sum>>32)
}

// AnswerSeries returns the sum of the answers to a crawler from one time to another, inclusive. r must
// be Hours or Days.
func (w *Row) AnswerSeries(r Resolution, from, to time.Time) (sum responseaudit.Counts) {
	for _, c := range cellsBetween(w.Answers.Series(r), r, from, to) {
		sum.Add(c.Counts())
	}
	return sum
}
