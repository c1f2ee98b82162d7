package ledger

import (
	"math"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// Visits counts people's visits to a site for one reason, for example an assistant.
type Visits = Timeline[VisitCell]

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

// RecordVisit records a visit from an assistant, by its index in [responseaudit.Assistants].
// Nothing is stored about the person.
func (l *Ledger) RecordVisit(site string, from int, at time.Time) {
	l.recordVisit(visit{site, responseaudit.AssistantName(from), at.UnixMilli()})
}

// RecordOnDisallowed records a visit for [OnDisallowed], and nothing else.
func (l *Ledger) RecordOnDisallowed(site string, at time.Time) {
	l.recordVisit(visit{site, OnDisallowed, at.UnixMilli()})
}

func (l *Ledger) recordVisit(v visit) {
	b := l.lockBuffer()
	b.visits = append(b.visits, v)
	l.releaseBuffer(b)
}

// visits returns the Visits with a name, created if necessary.
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

// add adds the visits of another cell.
func (c *VisitCell) add(other *VisitCell) { c[1] += min(other[1], math.MaxUint32-c[1]) }

// VisitsBetween returns the number of visits from one time to another, inclusive. name is a key of
// Visits. r must be Hours or Days.
func (s *Site) VisitsBetween(name string, r Resolution, from, to time.Time) (sum uint64) {
	if v := s.Visits[name]; v != nil {
		for _, c := range cellsBetween(v.Series(r), r, from, to) {
			sum += uint64(c[1])
		}
	}
	return sum
}

// mergeVisits adds the visits of another site under known names.
func (s *Site) mergeVisits(other *Site) {
	for name, v := range other.Visits {
		isAssistant := slices.ContainsFunc(responseaudit.Assistants(), func(a responseaudit.Assistant) bool { return a.Name == name })
		if v != nil && (isAssistant || name == OnDisallowed) {
			s.visits(name).merge(v, (*VisitCell).add)
		}
	}
}
