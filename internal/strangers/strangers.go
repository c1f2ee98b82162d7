// Package strangers counts the names of unregistered crawlers, with data for the decision to
// register them.
package strangers

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Bounds on the stored data. Clients can invent names, so the rarest name is evicted.
const (
	maxNames = 64
	maxAgent = 300 // bytes
	maxName  = 64
)

// minRequests is the minimum number of requests for a proposal.
const minRequests = 20

// Visit is a request of an unregistered client.
type Visit struct {
	Name      string
	Class     uaident.Class
	UserAgent string
	Network   netip.Prefix
	Robots    bool // the request was for robots.txt and successful; it was already counted
	At        time.Time
}

// Book counts unregistered names. The zero value is empty. It is safe for concurrent use.
type Book struct {
	waiting atomic.Pointer[waiting] // list of visits before counting
	number  atomic.Int64            // length of the list

	mu     sync.Mutex
	names  map[string]*stranger
	rarest byCount // the same, as a heap
}

// waiting is a visit that arrived during counting.
type waiting struct {
	Visit
	before *waiting
}

// maxWaiting is the maximum number of visits before counting. Further visits block.
const maxWaiting = 4096

type stranger struct {
	name              string
	place             int // index in the heap
	class             uaident.Class
	count, error      uint64
	reads             uint64
	first, last, read time.Time
	agent             string
	networks          networks
	surge             surge
}

// Note counts a visit. A new name replaces the rarest name if the Book is full. The count of
// the rarest name is then the maximum error of the new count. Note does not wait for another
// goroutine that counts. That goroutine or the next one also counts this visit.
func (b *Book) Note(v Visit) {
	if v.Class != uaident.GenericCrawler && v.Class != uaident.Other || !isPlain(v.Name) {
		return
	}
	if !b.mu.TryLock() {
		if b.wait(v) {
			return
		}
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	b.countWaiting()
	b.count(v)
}

// wait adds a visit to the list, if there is room.
func (b *Book) wait(v Visit) bool {
	if b.number.Add(1) > maxWaiting {
		b.number.Add(-1)
		return false
	}
	v.Name, v.UserAgent = strings.Clone(v.Name), strings.Clone(text.Cut(v.UserAgent, maxAgent)) // a copy, to release the rest of the header
	w := &waiting{Visit: v}
	for {
		w.before = b.waiting.Load()
		if b.waiting.CompareAndSwap(w.before, w) {
			return true
		}
	}
}

// countWaiting counts the visits of the list in order. b.mu must be held.
func (b *Book) countWaiting() {
	if b.waiting.Load() == nil {
		return
	}
	var all []*waiting
	for w := b.waiting.Swap(nil); w != nil; w = w.before {
		all = append(all, w)
	}
	for _, w := range slices.Backward(all) {
		b.count(w.Visit)
	}
	b.number.Add(-int64(len(all)))
}

// count counts a visit. b.mu must be held.
func (b *Book) count(v Visit) {
	s := b.names[v.Name]
	if s == nil {
		s = b.add(v)
	}
	s.last = v.At
	if v.Class == uaident.GenericCrawler {
		s.class = v.Class
	}
	if v.Robots {
		s.reads++
		s.read = v.At
	} else {
		s.count++
		b.rarest.counted(s)
	}
	if v.Network.IsValid() {
		s.networks.add(v.Network)
		if v.Class == uaident.GenericCrawler {
			s.surge.note(v.Network, v.At)
		}
	}
}

// add adds a name. b.mu must be held.
func (b *Book) add(v Visit) *stranger {
	if b.names == nil {
		b.names = make(map[string]*stranger)
	}
	var s *stranger
	if len(b.names) < maxNames {
		s = new(stranger)
		b.rarest.add(s)
	} else { // keeps its index and count
		s = b.rarest[0]
		delete(b.names, s.name)
		*s = stranger{place: s.place, count: s.count, error: s.count}
	}
	s.name, s.class, s.first = strings.Clone(v.Name), v.Class, v.At
	s.agent = text.Cut(text.Printable(text.Cut(v.UserAgent, maxAgent)), maxAgent)
	b.names[s.name] = s
	return s
}

// isPlain reports whether a name has a letter and can be written in a Caddyfile, quoted or
// unquoted.
func isPlain(name string) bool {
	letter := false
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letter = true
		case '0' <= c && c <= '9', i > 0 && strings.IndexByte(" ._!-", c) >= 0:
		default:
			return false
		}
	}
	return letter && len(name) <= maxName && name == strings.TrimSpace(name)
}

// Proposals returns the frequent names that are not in registry: robots first, then by
// frequency. It is never nil.
func (b *Book) Proposals(registry *uaident.Registry) []report.Proposal {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.countWaiting()
	all := []report.Proposal{}
	for name, s := range b.names {
		c := uaident.Crawler{Token: name, Class: uaident.GenericCrawler}
		if s.count-s.error < minRequests || registry.Lookup(name) != nil || c.Validate() != nil {
			continue
		}
		all = append(all, report.Proposal{
			Name: name, Class: s.class.String(), Requests: s.count, Error: s.error, RobotsReads: s.reads, LastRead: s.read.UTC(),
			Networks: s.networks.count(), WaveAt: s.surge.at.UTC(), WaveNetworks: s.surge.from,
			FirstSeen: s.first.UTC(), LastSeen: s.last.UTC(), UserAgent: s.agent, Option: option(name),
		})
	}
	slices.SortFunc(all, func(a, b report.Proposal) int {
		return cmp.Or(strings.Compare(a.Class, b.Class), cmp.Compare(b.Requests-b.Error, a.Requests-a.Error), strings.Compare(a.Name, b.Name))
	})
	return all
}

// option returns a Caddyfile option that registers a name.
func option(name string) string {
	if strings.Contains(name, " ") {
		name = `"` + name + `"`
	}
	return "crawler " + name + " {\n\tclass crawler # or what it is for, such as search, ai_training or seo\n}"
}
