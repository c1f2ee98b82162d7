package guard

import (
	"sync/atomic"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// policyNames are the names of a policy that a registry does not know. The
// policy outlives configurations, each of which may have a registry of its own.
type policyNames struct{ last atomic.Pointer[overlayBeside] }

type overlayBeside struct {
	registry *uaident.Registry
	overlay  *uaident.Overlay
}

// deriveNames is what the cache keeps beside each policy.
func deriveNames(*policy.Robots) any { return new(policyNames) }

// overlay returns the names of robots that registry does not know.
func (n *policyNames) overlay(registry *uaident.Registry, robots *policy.Robots) *uaident.Overlay {
	if known := n.last.Load(); known != nil && known.registry == registry {
		return known.overlay
	}
	overlay := registry.Overlay(robots.Names())
	n.last.Store(&overlayBeside{registry, overlay})
	return overlay
}

// overlayOf returns the names that only the policy of a site knows.
func overlayOf(registry *uaident.Registry, state *policy.State) *uaident.Overlay {
	if state != nil && state.Good != nil {
		if names, ok := state.Good.Derived.(*policyNames); ok {
			return names.overlay(registry, state.Good.Robots)
		}
	}
	return nil
}
