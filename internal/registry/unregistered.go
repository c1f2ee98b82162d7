package registry

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

// Bounds on memory. Clients can invent any number of names, so a new name replaces the rarest.
const (
	maxNames = 64
	maxAgent = 300 // bytes
	maxName  = 64
)

// minRequests is the number of requests from which a name is proposed.
const minRequests = 20

// Visit is a request of a client whose name the registry lacks.
type Visit struct {
	Name      string
	Class     uaident.Class
	UserAgent string
	Network   netip.Prefix
	Robots    bool // the client fetched robots.txt; not counted as a request
	At        time.Time
}

// Unregistered counts requests by names that the registry lacks. The zero value is empty.
// Several goroutines may use it at once.
type Unregistered struct {
	waiting atomic.Pointer[waiting] // the last of the visits that are not counted yet
	number  atomic.Int64            // of waiting visits

	mu     sync.Mutex
	names  map[string]*unregistered
	rarest byCount // the values of names
}

// waiting is a visit that came while another goroutine was counting.
type waiting struct {
	Visit
	before *waiting
}

// maxWaiting is the maximum number of waiting visits. At this number Note waits for the lock.
const maxWaiting = 4096

type unregistered struct {
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

// Note counts a visit. If there is no room for a new name, it replaces the rarest name and
// takes over that name's count as its possible error. Note does not wait while another
// goroutine counts: that goroutine or the next one counts this visit too.
func (b *Unregistered) Note(v Visit) {
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

// wait queues a visit for the next goroutine that counts. It returns false if the queue is full.
func (b *Unregistered) wait(v Visit) bool {
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

// countWaiting counts the waiting visits in their order of arrival. The caller holds b.mu.
func (b *Unregistered) countWaiting() {
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

// count counts a visit. The caller holds b.mu.
func (b *Unregistered) count(v Visit) {
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
		b.rarest.fix(s)
	}
	if v.Network.IsValid() {
		s.networks.add(v.Network)
		if v.Class == uaident.GenericCrawler {
			s.surge.note(v.Network, v.At)
		}
	}
}

// add adds a name, in place of the rarest if there is no room. The caller holds b.mu.
func (b *Unregistered) add(v Visit) *unregistered {
	if b.names == nil {
		b.names = make(map[string]*unregistered)
	}
	var s *unregistered
	if len(b.names) < maxNames {
		s = new(unregistered)
		b.rarest.add(s)
	} else { // the new name takes over place and count
		s = b.rarest[0]
		delete(b.names, s.name)
		*s = unregistered{place: s.place, count: s.count, error: s.count}
	}
	s.name, s.class, s.first = strings.Clone(v.Name), v.Class, v.At
	s.agent = text.Cut(text.Printable(text.Cut(v.UserAgent, maxAgent)), maxAgent)
	b.names[s.name] = s
	return s
}

// isPlain reports whether a name has a letter and can be written in a Caddyfile, perhaps
// in quotes.
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

// Proposals returns the frequent names that registry lacks: crawlers first, then by number
// of requests. The result is never nil.
func (b *Unregistered) Proposals(registry *uaident.Registry) []report.Proposal {
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
			FirstSeen: s.first.UTC(), LastSeen: s.last.UTC(), UserAgent: s.agent, Option: crawlerOption(name),
		})
	}
	slices.SortFunc(all, func(a, b report.Proposal) int {
		return cmp.Or(strings.Compare(a.Class, b.Class), cmp.Compare(b.Requests-b.Error, a.Requests-a.Error), strings.Compare(a.Name, b.Name))
	})
	return all
}

// crawlerOption returns the Caddyfile option that adds a name to the registry.
func crawlerOption(name string) string {
	if strings.Contains(name, " ") {
		name = `"` + name + `"`
	}
	return "crawler " + name + " {\n\tclass crawler # or another class, such as search, ai_training or seo\n}"
}
