package ledger

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// RecentVisitAge is the maximum age of a recent visit.
const RecentVisitAge = 24 * time.Hour

// These are bounds of a VisitedPages. Visits with longer targets are not stored, because the
// beginning of a target can have another verdict.
const (
	maxVisits             = 128
	maxVisitedTargetBytes = 512
)

// clockSkew is the maximum difference between the clocks of two machines.
const clockSkew = 5 * time.Minute

// CrawlerVisit is a request of a crawler that the site answered with success.
type CrawlerVisit struct {
	Crawler string `json:"crawler"` // Crawler is a name in the registry or the robots.txt.
	// GroupNames are the names by which the crawler looks for its group.
	GroupNames []string `json:"chain"`
	// WildcardApplies is true if the * group applies to the crawler.
	WildcardApplies bool      `json:"wildcard,omitempty"`
	Host            string    `json:"host"`   // Host is the label of the configured host.
	Target          RawText   `json:"target"` // Target is the request target as sent.
	At              time.Time `json:"at"`

	fromPeer bool // fromPeer is true if another instance served the page.
}

// RawText is text that may contain invalid UTF-8. In JSON it is encoded in base64.
type RawText string

// MarshalText implements [encoding.TextMarshaler].
func (t RawText) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(t)), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *RawText) UnmarshalText(text []byte) error {
	decoded, err := base64.StdEncoding.AppendDecode(nil, text)
	*t = RawText(decoded)
	return err
}

// PagesFromVisits converts visits to pages for [judge].
func PagesFromVisits(visits []CrawlerVisit) []judge.ServedPage {
	pages := make([]judge.ServedPage, len(visits))
	for i := range visits {
		v := &visits[i]
		pages[i] = judge.ServedPage{Crawler: v.Crawler, Names: v.GroupNames, WildcardApplies: v.WildcardApplies, Target: string(v.Target)}
	}
	return pages
}

// VisitedPages is a sample of the pages of a site that crawlers visited recently. Its memory is
// bounded. The zero value is empty. VisitedPages is not safe for concurrent use.
type VisitedPages struct {
	visits        []CrawlerVisit
	index         map[visitKey]int // index has the index of each visit in visits.
	nextToReplace int              // nextToReplace is the index of the next visit to replace if the sample is full.
	revision      uint64           // revision is the number of new visits that this instance has seen.
}

type visitKey struct {
	crawler, host string
	target        RawText
}

// If the sample is full, one in newVisitsPerReplacement new visits replaces a recent visit. A large
// number extends the covered time and limits the effect of one fast crawler.
const newVisitsPerReplacement = 8

// Record adds a visit to the sample. It copies the strings of v that belong to a request.
func (s *VisitedPages) Record(v CrawlerVisit) {
	if len(v.Target) > maxVisitedTargetBytes {
		return
	}
	key := visitKey{v.Crawler, v.Host, v.Target}
	if i, ok := s.index[key]; ok {
		if s.visits[i].fromPeer {
			s.revision++
		}
		s.visits[i].At, s.visits[i].WildcardApplies, s.visits[i].fromPeer = v.At, v.WildcardApplies, false
		return
	}
	index := len(s.visits)
	if index == maxVisits {
		index = s.nextToReplace
		s.nextToReplace = (s.nextToReplace + 1) % maxVisits
		if old := s.visits[index]; v.At.Sub(old.At) < RecentVisitAge && rand.IntN(newVisitsPerReplacement) != 0 {
			return
		}
	}
	// These are copies, because the strings of a request share its memory.
	v.Target = RawText(strings.Clone(string(v.Target)))
	v.GroupNames = slices.Clone(v.GroupNames)
	for i, name := range v.GroupNames {
		v.GroupNames[i] = strings.Clone(name)
	}
	v.Crawler = strings.Clone(v.Crawler)
	key = visitKey{v.Crawler, v.Host, v.Target}
	if s.index == nil {
		s.index = make(map[visitKey]int)
	}
	if index == len(s.visits) {
		s.visits = append(s.visits, v)
	} else {
		old := s.visits[index]
		delete(s.index, visitKey{old.Crawler, old.Host, old.Target})
		s.visits[index] = v
	}
	s.index[key] = index
	s.revision++
}

// Merge adds visits from the storage, or visits that another instance saw (fromPeer is true).
// [VisitedPages.OwnVisits] omits the visits from peers. Merge skips visits that are expired, in the
// future or not newer than the last visit to the same page by the same crawler.
func (s *VisitedPages) Merge(visits []CrawlerVisit, fromPeer bool, now time.Time) {
	for _, v := range visits {
		i, known := s.index[visitKey{v.Crawler, v.Host, v.Target}]
		if now.Sub(v.At) >= RecentVisitAge || v.At.After(now.Add(clockSkew)) || known && !v.At.After(s.visits[i].At) {
			continue
		}
		before := s.revision
		if v.fromPeer = fromPeer; known {
			s.visits[i].At = v.At // The visit keeps its value of fromPeer.
		} else {
			s.Record(v)
		}
		s.revision = before
	}
}

// OwnVisits returns the recent visits, without those that only other instances saw.
func (s *VisitedPages) OwnVisits(now time.Time) []CrawlerVisit {
	return slices.DeleteFunc(s.Recent(now), func(v CrawlerVisit) bool { return v.fromPeer })
}

// Revision returns a number that grows with each new visit that this instance sees.
func (s *VisitedPages) Revision() uint64 { return s.revision }

// Recent returns the visits that are younger than RecentVisitAge.
func (s *VisitedPages) Recent(now time.Time) []CrawlerVisit {
	var recent []CrawlerVisit
	for _, v := range s.visits {
		if now.Sub(v.At) < RecentVisitAge {
			recent = append(recent, v)
		}
	}
	return recent
}
