package guard

import (
	"sync/atomic"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// policyNames are the names of a policy that a registry does not know. The
// policy outlives configurations, each of which may have a registry of its own.
type policyNames struct {
	last atomic.Pointer[registryOverlay]
}

// registryOverlay is an overlay, nil for none, with the registry that it was made for. It
// does not keep the registry: a policy that is not in use any more may be there for long.
type registryOverlay struct {
	registry weak.Pointer[uaident.Registry]
	overlay  *uaident.Overlay
}

// deriveNames is what the cache keeps beside each policy.
func deriveNames(*policy.Robots) any { return new(policyNames) }

// overlay returns the names of robots that registry does not know, nil for none.
func (n *policyNames) overlay(registry *uaident.Registry, robots *policy.Robots) *uaident.Overlay {
	known := n.last.Load()
	if known == nil || known.registry.Value() != registry {
		known = &registryOverlay{weak.Make(registry), registry.Overlay(robots.Names())}
		n.last.Store(known)
	}
	return known.overlay
}

// overlayOf returns the names that only the policy of a site knows, nil for none.
func overlayOf(registry *uaident.Registry, state *policy.State) *uaident.Overlay {
	if state != nil && state.Good != nil {
		if names, ok := state.Good.Derived.(*policyNames); ok {
			return names.overlay(registry, state.Good.Robots)
		}
	}
	return nil
}
