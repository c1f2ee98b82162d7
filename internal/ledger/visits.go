package ledger

import (
	"math"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/parity"
)

// Visits are how often people came to a site for one reason, such as from an assistant, by the
// hour as long as answers are kept so, and by the day: the steps with a visit, the earliest first.
type Visits [numAnswerSeries][]VisitCell

// VisitCell is the number of a step since the Unix epoch and the visits in it, which
// stop at the most that fits.
type VisitCell [2]uint32

// visit is one that is noted but not yet counted.
type visit struct {
	site string
	name string // among those of [Site.Visits]
	at   int64
}

// OnDisallowed is the name among [Site.Visits] of the requests of browsers for URLs that the
// robots.txt disallows to crawlers that no group names: of people, and of bots that pass as
// people. No assistant is called so.
const OnDisallowed = "_disallowed"

// RecordVisit takes note that somebody came to a site from an assistant, by its index
// in [parity.Assistants]. Of the person nothing is kept.
func (l *Ledger) RecordVisit(site string, from int, at time.Time) {
	l.recordVisit(visit{site, parity.AssistantName(from), at.UnixMilli()})
}

// RecordOnDisallowed takes note of a visit that counts as [OnDisallowed]. Nothing else of it is
// kept.
func (l *Ledger) RecordOnDisallowed(site string, at time.Time) {
	l.recordVisit(visit{site, OnDisallowed, at.UnixMilli()})
}

func (l *Ledger) recordVisit(v visit) {
	b := l.locked()
	if b.visits == nil {
		b.visits = make([]visit, 0, bufferRequests)
	}
	b.visits = append(b.visits, v)
	l.release(b)
}

// countVisits counts the visits that were taken. l.mu must be held.
func (l *Ledger) countVisits() {
	for _, v := range l.batch.visits {
		s := l.site(v.site)
		s.visits(v.name).add(v.at, 1)
		s.noted++
	}
}

// visits returns the visits by a name.
func (s *Site) visits(name string) *Visits {
	known := s.Visits[name]
	if known == nil {
		if s.Visits == nil {
			s.Visits = make(map[string]*Visits)
		}
		known = new(Visits)
		s.Visits[name] = known
	}
	return known
}

func (v *Visits) add(at int64, n uint32) {
	for i := range v {
		r := answerResolution(i)
		v.addTo(i, VisitCell{r.slot(at), n})
	}
}

// addTo adds a cell to one of the series, unless it is too old.
func (v *Visits) addTo(i int, cell VisitCell) {
	series, steps := &v[i], answerSteps(answerResolution(i))
	if n := len(*series); n > 0 && (*series)[n-1][0] >= cell[0] && (*series)[n-1][0]-cell[0] >= steps {
		return
	}
	at, found := slices.BinarySearchFunc(*series, cell[0], func(c VisitCell, slot uint32) int { return int(int64(c[0]) - int64(slot)) })
	if !found {
		*series = slices.Insert(*series, at, VisitCell{cell[0]})
	}
	(*series)[at][1] += min(cell[1], math.MaxUint32-(*series)[at][1])
	last := (*series)[len(*series)-1][0]
	*series = slices.DeleteFunc(*series, func(c VisitCell) bool { return last-c[0] >= steps })
}

// merge adds what another place has counted.
func (v *Visits) merge(other *Visits) {
	for i := range other {
		for _, cell := range other[i] {
			v.addTo(i, cell)
		}
	}
}

// prune drops what is outside of what is kept at now, for retention at most, and what
// is in the future. It reports whether anything is left.
func (v *Visits) prune(now int64, retention time.Duration) bool {
	for i := range v {
		r := answerResolution(i)
		last, first := r.slot(now), r.slot(now-retention.Milliseconds())
		if steps := answerSteps(r); last >= steps {
			first = max(first, last-steps+1)
		}
		v[i] = slices.DeleteFunc(v[i], func(c VisitCell) bool { return c[0] < first || c[0] > last })
	}
	return len(v[len(v)-1]) > 0
}

// Sum returns the visits from the step of one time to that of another, by the hour or
// by the day.
func (v *Visits) Sum(r Resolution, from, to time.Time) (sum uint64) {
	for i := range v {
		if answerResolution(i) != r {
			continue
		}
		for _, c := range v[i] {
			if c[0] >= r.slot(from.UnixMilli()) && c[0] <= r.slot(to.UnixMilli()) {
				sum += uint64(c[1])
			}
		}
	}
	return sum
}

// mergeVisits adds the visits of another site, by the names that are known.
func (s *Site) mergeVisits(other *Site) {
	for name, v := range other.Visits {
		isAssistant := slices.ContainsFunc(parity.Assistants(), func(a parity.Assistant) bool { return a.Name == name })
		if v != nil && (isAssistant || name == OnDisallowed) {
			s.visits(name).merge(v)
		}
	}
}
