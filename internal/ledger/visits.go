package ledger

import (
	"math"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// HumanVisits counts the visits of people to a site by one name of [Site.Visits].
type HumanVisits = Timeline[HumanVisitBucket]

// HumanVisitBucket counts the visits in one step. The first element is the number of the step since
// the Unix epoch, the second the number of visits, which stops at its maximum.
type HumanVisitBucket [2]uint32

// humanVisit is a recorded visit that is not counted yet.
type humanVisit struct {
	site string
	name string // name is the name of the assistant, which is the key of [Site.Visits].
	at   int64
}

// VisitsToDisallowed is the key of [Site.Visits] for requests of browsers for URLs that the `*`
// group disallows. The senders are people, and bots with a browser's User-Agent. No assistant has
// this name.
const VisitsToDisallowed = "_disallowed"

// RecordAssistantVisit records that a person came from an assistant. assistant is its index in
// [responseaudit.Assistants]. Nothing is stored about the person.
func (l *Ledger) RecordAssistantVisit(site string, assistant int, at time.Time) {
	l.recordHumanVisit(humanVisit{site, responseaudit.AssistantName(assistant), at.UnixMilli()})
}

// RecordVisitToDisallowed records a browser's visit to a disallowed URL, for [VisitsToDisallowed].
// Nothing is stored about the client.
func (l *Ledger) RecordVisitToDisallowed(site string, at time.Time) {
	l.recordHumanVisit(humanVisit{site, VisitsToDisallowed, at.UnixMilli()})
}

func (l *Ledger) recordHumanVisit(v humanVisit) {
	b := l.lockBuffer()
	b.visits = append(b.visits, v)
	l.releaseBuffer(b)
}

// getOrCreateVisits returns the visits with a key of [Site.Visits], created if necessary.
func (s *Site) getOrCreateVisits(name string) *HumanVisits {
	visits := s.Visits[name]
	if visits == nil {
		if s.Visits == nil {
			s.Visits = make(map[string]*HumanVisits)
		}
		visits = new(HumanVisits)
		s.Visits[name] = visits
	}
	return visits
}

// add adds the visits of another bucket.
func (c *HumanVisitBucket) add(other *HumanVisitBucket) { c[1] += min(other[1], math.MaxUint32-c[1]) }

// SumVisits returns the number of visits from the step that contains the time from until the step
// that contains the time to, inclusive. name is a key of [Site.Visits]. r must be Hours or Days.
func (s *Site) SumVisits(name string, r Resolution, from, to time.Time) (sum uint64) {
	if v := s.Visits[name]; v != nil {
		for _, c := range bucketsBetween(v.Series(r), r, from, to) {
			sum += uint64(c[1])
		}
	}
	return sum
}

// mergeHumanVisits adds the visits of another site. mergeHumanVisits skips names of unknown
// assistants.
func (s *Site) mergeHumanVisits(other *Site) {
	for name, v := range other.Visits {
		isAssistant := slices.ContainsFunc(responseaudit.Assistants(), func(a responseaudit.Assistant) bool { return a.Name == name })
		if v != nil && (isAssistant || name == VisitsToDisallowed) {
			s.getOrCreateVisits(name).merge(v, (*HumanVisitBucket).add)
		}
	}
}
