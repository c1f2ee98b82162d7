package guard

import (
	"sync/atomic"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// policyNames has the crawler names of a robots.txt that a registry does not know. The robots.txt can
// outlive a configuration and its registry.
type policyNames struct {
	last atomic.Pointer[registryOverlay]
}

// registryOverlay is an overlay, nil for none, with its registry. The weak pointer lets an unused
// registry go while the robots.txt stays cached.
type registryOverlay struct {
	registry weak.Pointer[uaident.Registry]
	overlay  *uaident.Overlay
}

// deriveNames makes the value that the cache stores with each robots.txt.
func deriveNames(*policy.Robots) any { return new(policyNames) }

// overlay returns the names in robots that the registry does not know, or nil.
func (n *policyNames) overlay(registry *uaident.Registry, robots *policy.Robots) *uaident.Overlay {
	known := n.last.Load()
	if known == nil || known.registry.Value() != registry {
		known = &registryOverlay{weak.Make(registry), registry.Overlay(robots.Names())}
		n.last.Store(known)
	}
	return known.overlay
}

// overlayOf returns the names that only the robots.txt of a site has, or nil.
func overlayOf(registry *uaident.Registry, state *policy.State) *uaident.Overlay {
	if state != nil && state.Current != nil {
		if names, ok := state.Current.Derived.(*policyNames); ok {
			return names.overlay(registry, state.Current.Robots)
		}
	}
	return nil
}
