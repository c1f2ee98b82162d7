package ledger

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// ServedWindow is the time for which a visit is recent.
const ServedWindow = 24 * time.Hour

// Bounds of a Served. Visits with longer targets are not stored, because a prefix can have
// another verdict.
const (
	maxVisits        = 128
	maxVisitedTarget = 512
)

// Visit is a successful request of a crawler.
type Visit struct {
	Crawler  string   // name in the registry or policy
	Chain    []string // the names by which the crawler looks for its group
	Wildcard bool     // the * group applies
	Host     string   // the configured host
	Target   string   // as requested
	At       time.Time

	elsewhere bool // seen by another instance
}

// Served is a sample of recent visits to a site. The zero value is empty. Memory is bounded.
// It is not safe for concurrent use.
type Served struct {
	visits []Visit
	index  map[visitKey]int // indexes in visits
	next   int              // index of the next visit to replace, when full
	news   uint64           // number of new visits seen by this instance
}

type visitKey struct{ crawler, host, target string }

// oneIn is the inverse share of new visits that replace a recent visit. A low share extends
// the covered time and limits the effect of one fast crawler.
const oneIn = 8

// Note adds a visit to the sample. It does not retain memory of v.
func (s *Served) Note(v Visit) {
	if len(v.Target) > maxVisitedTarget {
		return
	}
	key := visitKey{v.Crawler, v.Host, v.Target}
	if i, ok := s.index[key]; ok {
		if s.visits[i].elsewhere {
			s.news++
		}
		s.visits[i].At, s.visits[i].Wildcard, s.visits[i].elsewhere = v.At, v.Wildcard, false
		return
	}
	place := len(s.visits)
	if place == maxVisits {
		place = s.next
		s.next = (s.next + 1) % maxVisits
		if old := s.visits[place]; v.At.Sub(old.At) < ServedWindow && rand.IntN(oneIn) != 0 {
			return
		}
	}
	// Copies, because the strings of a request share its memory.
	v.Target = strings.Clone(v.Target)
	v.Chain = slices.Clone(v.Chain)
	for i, name := range v.Chain {
		v.Chain[i] = strings.Clone(name)
	}
	v.Crawler = strings.Clone(v.Crawler)
	key = visitKey{v.Crawler, v.Host, v.Target}
	if s.index == nil {
		s.index = make(map[visitKey]int)
	}
	if place == len(s.visits) {
		s.visits = append(s.visits, v)
	} else {
		old := s.visits[place]
		delete(s.index, visitKey{old.Crawler, old.Host, old.Target})
		s.visits[place] = v
	}
	s.index[key] = place
	s.news++
}

// Merge adds stored visits, or visits of other instances (elsewhere is true), which
// [Served.Own] omits. It skips visits that are older than the known visit, expired or in the
// future.
func (s *Served) Merge(visits []Visit, elsewhere bool, now time.Time) {
	for _, v := range visits {
		i, known := s.index[visitKey{v.Crawler, v.Host, v.Target}]
		if now.Sub(v.At) >= ServedWindow || v.At.After(now.Add(clockSkew)) || known && !v.At.After(s.visits[i].At) {
			continue
		}
		before := s.news
		if v.elsewhere = elsewhere; known {
			s.visits[i].At = v.At // keeps its origin
		} else {
			s.Note(v)
		}
		s.news = before
	}
}

// Own returns the recent visits that this instance saw.
func (s *Served) Own(now time.Time) []Visit {
	return slices.DeleteFunc(s.Recent(now), func(v Visit) bool { return v.elsewhere })
}

// News returns the number of new visits that this instance saw.
func (s *Served) News() uint64 { return s.news }

// Recent returns the visits less than ServedWindow before now.
func (s *Served) Recent(now time.Time) []Visit {
	var recent []Visit
	for _, v := range s.visits {
		if now.Sub(v.At) < ServedWindow {
			recent = append(recent, v)
		}
	}
	return recent
}
