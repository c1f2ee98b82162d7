package guard

import (
	"sync/atomic"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// policyNames are the names of a policy that a registry does not know. The
// policy outlives configurations, each of which may have a registry of its own.
type policyNames struct{ last atomic.Pointer[overlayBeside] }

// overlayBeside is an overlay, nil for none, with the registry that it was made for. It
// does not keep that: a policy that nobody asks about any more may be there for long.
type overlayBeside struct {
	registry weak.Pointer[uaident.Registry]
	overlay  *uaident.Overlay
	number   uint64 // which no other has; 0 without an overlay
}

// overlays is the last number of an overlay, noOverlay is where nobody knows a policy, and
// lastWithout is what policies share that were asked about last and have none.
var (
	overlays    atomic.Uint64
	noOverlay   overlayBeside
	lastWithout atomic.Pointer[overlayBeside]
)

// besideOf returns an overlay with its registry.
func besideOf(registry *uaident.Registry, overlay *uaident.Overlay) *overlayBeside {
	b := &overlayBeside{registry: weak.Make(registry), overlay: overlay}
	if overlay != nil {
		b.number = overlays.Add(1)
		return b
	}
	if last := lastWithout.Load(); last != nil && last.registry == b.registry {
		return last
	}
	lastWithout.Store(b)
	return b
}

// deriveNames is what the cache keeps beside each policy.
func deriveNames(*policy.Robots) any { return new(policyNames) }

// overlay returns the names of robots that registry does not know.
func (n *policyNames) overlay(registry *uaident.Registry, robots *policy.Robots) *overlayBeside {
	known := n.last.Load()
	if known == nil || known.registry.Value() != registry {
		known = besideOf(registry, registry.Overlay(robots.Names()))
		n.last.Store(known)
	}
	return known
}

// overlayOf returns the names that only the policy of a site knows.
func overlayOf(registry *uaident.Registry, state *policy.State) *overlayBeside {
	if state != nil && state.Good != nil {
		if names, ok := state.Good.Derived.(*policyNames); ok {
			return names.overlay(registry, state.Good.Robots)
		}
	}
	return &noOverlay
}
