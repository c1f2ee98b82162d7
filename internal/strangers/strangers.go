// Package strangers knows the names that clients call themselves by and that no registry
// has, with what an owner can decide by whether to add them.
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

// What is kept at most. Clients can invent names at will, so the rarest make room.
const (
	maxNames = 64
	maxAgent = 300 // bytes
	maxName  = 64
)

// minRequests is how often a name has to be seen to be proposed.
const minRequests = 20

// Visit is a request of a client that no registry knows.
type Visit struct {
	Name      string
	Class     uaident.Class
	UserAgent string
	Network   netip.Prefix
	Robots    bool // says that the visit before this was for a robots.txt, which it got
	At        time.Time
}

// Book counts strangers. The zero Book is empty. It may be used by several goroutines at
// once.
type Book struct {
	waiting atomic.Pointer[waiting] // the last visit that is not counted yet
	number  atomic.Int64            // of these

	mu     sync.Mutex
	names  map[string]*stranger
	rarest byCount // the same
}

// waiting is a visit that came while somebody else was counting.
type waiting struct {
	Visit
	before *waiting
}

// maxWaiting is how many visits wait to be counted; then who brings one waits.
const maxWaiting = 4096

type stranger struct {
	name              string
	place             int // in the heap
	class             uaident.Class
	count, error      uint64
	reads             uint64
	first, last, read time.Time
	agent             string
	networks          networks
	surge             surge
}

// Note counts a visit. Where there is no room for another name it takes the place of the
// rarest, whose count is then the most that it can be too high by. It does not wait for who
// counts another one: that one, or the next, counts both.
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

// wait leaves a visit to who counts next, if there is room.
func (b *Book) wait(v Visit) bool {
	if b.number.Add(1) > maxWaiting {
		b.number.Add(-1)
		return false
	}
	v.Name, v.UserAgent = strings.Clone(v.Name), strings.Clone(text.Cut(v.UserAgent, maxAgent)) // not all of its header
	w := &waiting{Visit: v}
	for {
		w.before = b.waiting.Load()
		if b.waiting.CompareAndSwap(w.before, w) {
			return true
		}
	}
}

// countWaiting counts the visits that wait, in the order in which they came. b.mu must be
// held.
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

// add makes room for a name. b.mu must be held.
func (b *Book) add(v Visit) *stranger {
	if b.names == nil {
		b.names = make(map[string]*stranger)
	}
	var s *stranger
	if len(b.names) < maxNames {
		s = new(stranger)
		b.rarest.add(s)
	} else { // it keeps the place and the count
		s = b.rarest[0]
		delete(b.names, s.name)
		*s = stranger{place: s.place, count: s.count, error: s.count}
	}
	s.name, s.class, s.first = strings.Clone(v.Name), v.Class, v.At
	s.agent = text.Cut(text.Printable(text.Cut(v.UserAgent, maxAgent)), maxAgent)
	b.names[s.name] = s
	return s
}

// isPlain reports whether a name can stand in a Caddyfile as it is or in quotes, and has
// a letter.
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

// Proposals returns the names that were seen often and that registry does not know, robots
// first, then the most frequent. It is never nil.
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

// option returns the option of a Caddyfile that makes a name known.
func option(name string) string {
	if strings.Contains(name, " ") {
		name = `"` + name + `"`
	}
	return "crawler " + name + " {\n\tclass crawler # or what it is for, such as search, ai_training or seo\n}"
}
