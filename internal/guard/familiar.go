package guard

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Bounds of the familiar User-Agents: how many sets there are, of two crawlers and four
// browsers, and bytes of a User-Agent. With the names of a client they take 8 MB at most.
const (
	familiarSets = 4096
	maxFamiliar  = 512
)

// familiar remembers who clients are by User-Agents that return, as most do. One is
// remembered when it comes for the second time in turn among few, so that those which
// never return cost a hash and no memory. It takes no lock.
type familiar struct {
	sets [familiarSets]familiarSet // first, so that each is in one line of the processor's cache
	seed maphash.Seed
	of   atomic.Pointer[period]
	last atomic.Uint64 // number of a period
}

// period is while all are identified by a registry, but for some stragglers.
type period struct {
	registry *uaident.Registry
	number   uint64 // which no other has
}

// familiarSet has the User-Agents of some hashes. They are told apart by these alone: to
// compare the texts took longer than all else, and nobody who does not know the seed can
// look for another with the same. Of a browser there is nothing but the hash.
type familiarSet struct {
	browsers [4]atomic.Uint64
	missed   [4]atomic.Uint32 // part of the hash of the last ones that were not there
	agents   [2]atomic.Pointer[familiarAgent]
}

// familiarAgent is who a client is by its User-Agent. It never changes.
type familiarAgent struct {
	hash      uint64 // of the User-Agent, the registry and the overlay
	userAgent string
	client    uaident.Identity
	names     []string  // as [uaident.Identity.AppendChain] has them
	few       [4]string // where these are, beside the rest
}

func newFamiliar() *familiar { return &familiar{seed: maphash.MakeSeed()} }

// identify is [uaident.Registry.IdentifyWith]; of a browser that returns it has nothing but
// the class. It returns the User-Agent as it is remembered, too, nil where it is not: unlike
// the header that has it, that may be kept.
func (f *familiar) identify(registry *uaident.Registry, userAgent string, beside *overlayBeside) (uaident.Identity, *familiarAgent) {
	if f == nil || len(userAgent) > maxFamiliar {
		return registry.IdentifyWith(userAgent, beside.overlay), nil
	}
	now := f.of.Load()
	if now == nil || now.registry != registry {
		now = f.begin(registry)
	}
	hash := maphash.String(f.seed, userAgent) ^ now.number*0x9e3779b97f4a7c15 ^ beside.number*0xc2b2ae3d27d4eb4f // two odd numbers
	hash = max(hash, 1)                                                                                          // 0 is none
	set := &f.sets[hash%familiarSets]
	for i := range set.browsers {
		if set.browsers[i].Load() == hash {
			return uaident.Identity{Class: uaident.Browser}, nil
		}
	}
	for i := range set.agents {
		if a := set.agents[i].Load(); a != nil && a.hash == hash {
			return a.client, a
		}
	}
	if !set.returns(uint32(hash >> 32)) {
		return registry.IdentifyWith(userAgent, beside.overlay), nil
	}
	client := registry.IdentifyWith(userAgent, beside.overlay)
	if client.Class == uaident.Browser {
		set.placeOfBrowser(hash).Store(hash)
		return client, nil
	}
	a := &familiarAgent{hash: hash, userAgent: strings.Clone(userAgent)}
	a.client = registry.IdentifyWith(a.userAgent, beside.overlay) // which refers to it
	a.names = a.client.AppendChain(a.few[:0])
	set.place(hash).Store(a)
	return a.client, a
}

// returns reports whether one with this part of its hash is among the last that were not
// there, and takes note of it. What goes wrong where two do so at once is that one of them
// has to come once more.
func (s *familiarSet) returns(part uint32) bool {
	for i := range s.missed {
		if s.missed[i].Load() == part {
			return true
		}
	}
	for i := len(s.missed) - 1; i > 0; i-- {
		s.missed[i].Store(s.missed[i-1].Load())
	}
	s.missed[0].Store(part)
	return false
}

// place returns where one of this hash goes: where there is none yet, else in the place of
// any.
func (s *familiarSet) place(hash uint64) *atomic.Pointer[familiarAgent] {
	for i := range s.agents {
		if s.agents[i].Load() == nil {
			return &s.agents[i]
		}
	}
	return &s.agents[hash>>20%2]
}

// placeOfBrowser is place for a browser.
func (s *familiarSet) placeOfBrowser(hash uint64) *atomic.Uint64 {
	for i := range s.browsers {
		if s.browsers[i].Load() == 0 {
			return &s.browsers[i]
		}
	}
	return &s.browsers[hash>>20%4]
}

// begin begins anew with another registry, so that none is kept that is not in use.
func (f *familiar) begin(registry *uaident.Registry) *period {
	next := &period{registry, f.last.Add(1)}
	if f.of.Swap(next) == nil {
		return next
	}
	for s := range f.sets {
		for i := range f.sets[s].agents {
			f.sets[s].agents[i].Store(nil)
		}
	}
	return next
}
