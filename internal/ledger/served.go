package ledger

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// ServedWindow is how long a visit counts as recent.
const ServedWindow = 24 * time.Hour

// Bounds of a Served: how many visits it keeps, and how long their targets may
// be, in bytes. A longer target is not kept at all, since a part of it may be
// judged differently.
const (
	maxVisits        = 128
	maxVisitedTarget = 512
)

// Visit is a page that a crawler was served.
type Visit struct {
	Crawler  string   // a name that the registry or a policy spells
	Chain    []string // the names by which the crawler looks for its group
	Wildcard bool     // whether the * group is meant for it
	Host     string   // the configured host
	Target   string   // as requested
	At       time.Time

	elsewhere bool // seen by another instance
}

// Served remembers which pages of a site crawlers were served lately. A Served
// that was never written to is empty. It takes a fixed amount of memory and must
// not be used by several goroutines at once.
type Served struct {
	visits []Visit
	index  map[visitKey]int // the places in visits
	next   int              // the place that may be taken next, once all are
	news   uint64           // pages that were seen here and were not known
}

type visitKey struct{ crawler, host, target string }

// oneIn is the share of new pages that take a place which another page still
// has a right to. The less they do, the further back what is remembered reaches,
// and a crawler in a hurry does not displace all others.
const oneIn = 8

// Note remembers a visit. Of many different pages it keeps a sample. It keeps
// nothing that v refers to.
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
	// Requests share the memory of their header and would keep all of it.
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

// Merge takes in visits that were seen before, or elsewhere: those are not
// [Served.Own]. Nothing is older than what is known or from the future.
func (s *Served) Merge(visits []Visit, elsewhere bool, now time.Time) {
	for _, v := range visits {
		i, known := s.index[visitKey{v.Crawler, v.Host, v.Target}]
		if now.Sub(v.At) >= ServedWindow || v.At.After(now.Add(clockSkew)) || known && !v.At.After(s.visits[i].At) {
			continue
		}
		before := s.news
		if v.elsewhere = elsewhere; known {
			s.visits[i].At = v.At // still our own, if it was
		} else {
			s.Note(v)
		}
		s.news = before
	}
}

// Own returns the recent visits that were seen here.
func (s *Served) Own(now time.Time) []Visit {
	return slices.DeleteFunc(s.Recent(now), func(v Visit) bool { return v.elsewhere })
}

// News counts the pages that were seen here for the first time.
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
