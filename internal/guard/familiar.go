package guard

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Bounds of the familiar User-Agents: how many sets of two there are, and bytes of each
// User-Agent. With the names of a client they take 8 MB at most.
const (
	familiarSets = 4096
	maxFamiliar  = 512
)

// familiar remembers who clients are by User-Agents that return, as most do. One is
// remembered when it comes for the second time in turn among few, so that those which
// never return cost a hash and no memory. It takes no lock.
type familiar struct {
	seed maphash.Seed
	of   atomic.Pointer[uaident.Registry] // that all are identified by but for some stragglers
	sets [familiarSets]familiarSet
}

// familiarSet has the User-Agents of some hashes.
type familiarSet struct {
	missed [4]atomic.Uint32 // part of the hash of the last ones that were not there
	agents [2]atomic.Pointer[familiarAgent]
}

// familiarAgent is who a client is by its User-Agent. It never changes.
type familiarAgent struct {
	userAgent string
	registry  *uaident.Registry
	overlay   weak.Pointer[uaident.Overlay] // which goes with its policy; zero for none
	client    uaident.Identity
	names     []string // as [uaident.Identity.AppendChain] has them
}

func newFamiliar() *familiar { return &familiar{seed: maphash.MakeSeed()} }

// identify is [uaident.Registry.IdentifyWith]. It returns the User-Agent as it is
// remembered, too, nil where it is not: unlike the header that has it, that may be kept.
func (f *familiar) identify(registry *uaident.Registry, userAgent string, overlay *uaident.Overlay) (uaident.Identity, *familiarAgent) {
	if f == nil || len(userAgent) > maxFamiliar {
		return registry.IdentifyWith(userAgent, overlay), nil
	}
	if f.of.Load() != registry {
		f.forget(registry)
	}
	hash := maphash.String(f.seed, userAgent)
	if overlay != nil { // sites may have different ones
		hash ^= maphash.Comparable(f.seed, overlay)
	}
	set := &f.sets[hash%familiarSets]
	for i := range set.agents {
		if a := set.agents[i].Load(); a != nil && a.userAgent == userAgent && a.registry == registry && a.isBeside(overlay) {
			return a.client, a
		}
	}
	if tag := uint32(hash >> 32); set.missed[hash>>16%4].Swap(tag) != tag {
		return registry.IdentifyWith(userAgent, overlay), nil
	}
	a := &familiarAgent{userAgent: strings.Clone(userAgent), registry: registry, overlay: weak.Make(overlay)}
	a.client = registry.IdentifyWith(a.userAgent, overlay)
	a.names = a.client.AppendChain(nil)
	set.place(hash).Store(a)
	return a.client, a
}

// isBeside reports whether it was identified with this overlay.
func (a *familiarAgent) isBeside(overlay *uaident.Overlay) bool {
	if overlay == nil {
		return a.overlay == weak.Pointer[uaident.Overlay]{} // that of one which is gone is not
	}
	return a.overlay.Value() == overlay
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

// forget begins anew with another registry, so that none is kept that is not in use.
func (f *familiar) forget(registry *uaident.Registry) {
	if f.of.Swap(registry) == nil {
		return
	}
	for s := range f.sets {
		for i := range f.sets[s].missed {
			f.sets[s].missed[i].Store(0)
		}
		for i := range f.sets[s].agents {
			f.sets[s].agents[i].Store(nil)
		}
	}
}
