package ledger

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Answer is what the site answered to a request of a crawler that passed. Its names
// are those of the [Request].
type Answer struct {
	At       time.Time // when the request came
	Site     string
	Token    string
	Named    bool
	Class    uaident.Class
	Identity verify.State
	Kind     parity.Kind
	Status   parity.Status
	Bytes    int64 // of the body, as the handlers behind the guard sent it
}

// KindOf returns of which kind a request is by its verdict, unless it is for a
// robots.txt.
func KindOf(v judge.Verdict) parity.Kind {
	switch v {
	case judge.Allowed:
		return parity.Allowed
	case judge.Disallowed, judge.Stale:
		return parity.Forbidden
	}
	return parity.Unruled
}

// RecordAnswer takes note of an answer, as Record does of a request.
func (l *Ledger) RecordAnswer(a *Answer) {
	b := l.locked()
	b.addAnswer(a)
	l.release(b)
}

// answer is one that is noted but not yet counted. Its names are those of the
// configuration, the registry and the robots.txt, which live longer.
type answer struct {
	crawler
	Kind   parity.Kind
	Status parity.Status
	Site   string
	Bytes  int64
	at     int64
}

func (n *notes) addAnswer(a *Answer) {
	if n.answers == nil {
		n.answers = make([]answer, 0, bufferRequests)
	}
	n.answers = append(n.answers, answer{crawler{a.Token, a.Named, a.Class, a.Identity}, a.Kind, a.Status, a.Site, a.Bytes, a.At.UnixMilli()})
}

// countAnswers counts the answers that were taken. l.mu must be held.
func (l *Ledger) countAnswers() {
	var last lastSite
	var row *Row
	var of *answer // whose row that is
	for i := range l.batch.answers {
		a := &l.batch.answers[i]
		if of == nil || of.Site != a.Site || of.Token != a.Token || of.Class != a.Class || of.Identity != a.Identity {
			row, of = l.row(l.siteAfter(&last, a.Site), a.crawler, a.at), a
		}
		row.noteAnswer(a)
	}
}

// noteAnswer counts an answer.
func (w *Row) noteAnswer(a *answer) {
	if w.FirstSeen == 0 { // its request is not counted yet
		w.FirstSeen, w.LastSeen = a.at, a.at
	}
	for r := range w.Answers {
		w.Answers[r].note(answerResolution(r), a)
	}
}

// AnswerCell is what was answered in one step: the number of the step since the Unix
// epoch, the counts by kind and status, which stop at the most that fits, and the
// bytes in two words, the lower one first.
type AnswerCell [1 + answerCounts + 2]uint32

const answerCounts = int(parity.NumKinds) * int(parity.NumStatuses)

// At returns the start of the step.
func (c AnswerCell) At(r Resolution) time.Time { return Cell{c[0]}.At(r) }

// Counts returns what was counted.
func (c AnswerCell) Counts() (counts parity.Counts) {
	for kind := range counts.By {
		for status := range counts.By[kind] {
			counts.By[kind][status] = uint64(c[answerIndex(parity.Kind(kind), parity.Status(status))])
		}
	}
	counts.Bytes = c.bytes()
	return counts
}

func answerIndex(kind parity.Kind, status parity.Status) int {
	return 1 + int(kind)*int(parity.NumStatuses) + int(status)
}

func (c *AnswerCell) bytes() uint64 {
	return uint64(c[1+answerCounts]) | uint64(c[2+answerCounts])<<32
}

// add adds the counts of another cell.
func (c *AnswerCell) add(other *AnswerCell) {
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

// AnswerSeries are answers over time at one resolution: the steps with one, the
// earliest first. It takes 124 bytes for each.
type AnswerSeries []AnswerCell

// Answers are kept by the hour, as long as findings look back, and by the day.
const numAnswerSeries = 2

func answerResolution(i int) Resolution { return [numAnswerSeries]Resolution{Hours, Days}[i] }

// AnswerHours is how far back answers are kept by the hour.
const AnswerHours = 48

func answerSteps(r Resolution) uint32 {
	if r == Hours {
		return AnswerHours
	}
	return uint32(r.Steps())
}

// Answered returns the answers to a crawler by the hour or by the day.
func (w *Row) Answered(r Resolution) AnswerSeries {
	for i := range w.Answers {
		if answerResolution(i) == r {
			return w.Answers[i]
		}
	}
	return nil
}

// note counts an answer.
func (s *AnswerSeries) note(r Resolution, a *answer) {
	if c := s.cell(r, r.slot(a.at)); c != nil {
		if i := answerIndex(a.Kind, a.Status); c[i] < math.MaxUint32 {
			c[i]++
		}
		c.addBytes(uint64(max(a.Bytes, 0)))
	}
}

// cell returns the cell of a step, nil if that is too old. What gets too old by it is
// dropped.
func (s *AnswerSeries) cell(r Resolution, slot uint32) *AnswerCell {
	return cellAt((*[]AnswerCell)(s), slot, answerSteps(r))
}

// merge adds what another place has counted.
func (s *AnswerSeries) merge(r Resolution, other AnswerSeries) {
	for i := range other {
		if c := s.cell(r, other[i][0]); c != nil {
			c.add(&other[i])
		}
	}
}

// prune drops what is outside of what is kept at now, for retention at most, and what
// is in the future.
func (s *AnswerSeries) prune(r Resolution, now int64, retention time.Duration) {
	*s = prune(*s, r, answerSteps(r), now, retention)
}

// Sum returns what was answered from the step of one time to that of another.
func (s AnswerSeries) Sum(r Resolution, from, to time.Time) (sum parity.Counts) {
	for _, c := range between(s, r, from, to) {
		sum.Add(c.Counts())
	}
	return sum
}
