package readers

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of what is remembered of the texts that crawlers are served: sites that
// the configuration names and hosts that only clients name, and texts, crawlers
// and networks of each.
const (
	maxServedNamed    = 2048
	maxServedInvented = 64
	maxServedTexts    = 16
	maxServedClients  = 256
	maxServedNetworks = 256
	maxServedBytes    = 64 << 20 // estimated memory of all texts
)

// Texts remembers which texts sites serve to crawlers beside the one that the
// guard reads: where two upstreams have different files during a release, or an
// origin answers by User-Agent. A crawler is held to the text that it was
// served, once the guard was served the same for its User-Agent: else clients
// could earn a milder text by a header of theirs. The zero Texts is empty and
// may be used by several goroutines at once.
type Texts struct {
	Derive func(*policy.Robots) any // makes what is kept beside each text, in [policy.Version.Derived]; may be nil

	mu     sync.RWMutex
	sites  [2]map[policy.Key]*SiteTexts // by segment
	bytes  int                          // estimated memory of all texts
	abroad []led                        // where clients were redirected to other hosts, the latest last

	uses    atomic.Uint64   // of all sites, so far
	asking  [2]atomic.Int32 // sites that are being asked
	ledLast atomic.Int64    // when a client was redirected last, in Unix nanoseconds; 0 for never
	passes  passes
}

// Known returns what is remembered of a site, nil if that is nothing.
func (s *Texts) Known(of policy.Key) *SiteTexts {
	s.mu.RLock()
	found := s.sites[of.Segment()][of]
	s.mu.RUnlock()
	if found != nil {
		found.used.Store(s.uses.Add(1))
	}
	return found
}

// Site returns what is remembered of a site, making it if there is nothing.
func (s *Texts) Site(of policy.Key) *SiteTexts {
	if found := s.Known(of); found != nil {
		return found
	}
	made := s.add(of)
	made.used.Store(s.uses.Add(1))
	return made
}

// add returns a site of which nothing was remembered a moment ago.
func (s *Texts) add(of policy.Key) *SiteTexts {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, most := s.sites[of.Segment()], maxServedNamed
	if of.Segment() == policy.Invented {
		most = maxServedInvented
	}
	if found := known[of]; found != nil {
		return found
	}
	if known == nil {
		known = make(map[policy.Key]*SiteTexts)
		s.sites[of.Segment()] = known
	}
	clients, _ := simplelru.NewLRU[Client, *servedAsk](maxServedClients, nil)
	networks, _ := simplelru.NewLRU[netip.Prefix, *servedNetwork](maxServedNetworks, nil)
	made := &SiteTexts{clients: clients, networks: networks, asks: rate.NewLimiter(rate.Every(allRate), allBurst)}
	if of.Segment() == policy.Invented {
		made.passes = &s.passes
	}
	if len(known) == most {
		s.forget(known, most/16) // so that it is not gone through again for the next one
	}
	made.used.Store(s.uses.Load())
	known[of] = made
	return made
}

// forget drops so many sites, those that were asked about least lately, and reports whether
// there were any. s.mu must be held.
func (s *Texts) forget(sites map[policy.Key]*SiteTexts, most int) bool {
	keys := slices.Collect(maps.Keys(sites))
	used := make(map[policy.Key]uint64, len(keys)) // which goes on meanwhile
	for _, key := range keys {
		used[key] = sites[key].used.Load()
	}
	slices.SortFunc(keys, func(a, b policy.Key) int { return cmp.Compare(used[a], used[b]) })
	for _, key := range keys[:min(most, len(keys))] {
		s.drop(sites[key])
		delete(sites, key)
	}
	return len(keys) > 0
}

// drop takes note that a site is not remembered any more. s.mu must be held.
func (s *Texts) drop(site *SiteTexts) {
	site.mu.Lock()
	defer site.mu.Unlock()
	site.gone = true
	for _, text := range site.texts {
		s.bytes -= text.version.Robots.Size()
	}
}

// Confirm remembers that a client is served a text, if the answer holds one.
func (s *Texts) Confirm(of policy.Key, client Client, by netip.Prefix, a policy.Answer, now time.Time) {
	site := s.Site(of)
	if hash, ok := policy.HashOf(a); !ok || site.again(client, hash, now) {
		return
	}
	version := policy.VersionOf(a, now)
	if s.Derive != nil {
		version.Derived = s.Derive(version.Robots)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += site.add(client, by, version, now)
	for _, sites := range []map[policy.Key]*SiteTexts{s.sites[policy.Invented], s.sites[policy.Named]} {
		for s.bytes > maxServedBytes && s.forget(sites, 1+len(sites)/16) {
		}
	}
}
