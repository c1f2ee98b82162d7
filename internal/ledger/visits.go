package ledger

import (
	"math"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/parity"
)

// Visits counts people's visits to a site for one reason, such as an assistant. It has an
// hourly and a daily series, oldest step first.
type Visits [numAnswerSeries][]VisitCell

// VisitCell contains the number of a step since the Unix epoch, and the saturating number of
// visits.
type VisitCell [2]uint32

// visit is a recorded visit before counting.
type visit struct {
	site string
	name string // key of [Site.Visits]
	at   int64
}

// OnDisallowed is the key of [Site.Visits] for requests of browsers for URLs that the `*`
// group disallows. The senders are people, and bots with a browser's User-Agent. No assistant
// has this name.
const OnDisallowed = "_disallowed"

// RecordVisit records a visit from an assistant, by its index in [parity.Assistants]. It
// stores nothing about the person.
func (l *Ledger) RecordVisit(site string, from int, at time.Time) {
	l.recordVisit(visit{site, parity.AssistantName(from), at.UnixMilli()})
}

// RecordOnDisallowed records a visit for [OnDisallowed]. It stores nothing else.
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

// countVisits counts the visits of the batch. l.mu must be held.
func (l *Ledger) countVisits() {
	for _, v := range l.batch.visits {
		s := l.site(v.site)
		s.visits(v.name).add(v.at, 1)
		s.noted++
	}
}

// visits returns the Visits with a name, which it creates if necessary.
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

// addTo adds a cell to a series, unless the cell is too old.
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

// merge adds the visits of another ledger.
func (v *Visits) merge(other *Visits) {
	for i := range other {
		for _, cell := range other[i] {
			v.addTo(i, cell)
		}
	}
}

// prune drops cells that are older than the series or than retention, or in the future. It
// reports whether any cells remain.
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

// Sum returns the visits from one time to another, inclusive. r must be Hours or Days.
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

// mergeVisits adds the visits of another site under known names.
func (s *Site) mergeVisits(other *Site) {
	for name, v := range other.Visits {
		isAssistant := slices.ContainsFunc(parity.Assistants(), func(a parity.Assistant) bool { return a.Name == name })
		if v != nil && (isAssistant || name == OnDisallowed) {
			s.visits(name).merge(v)
		}
	}
}
