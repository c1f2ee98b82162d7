package caddymodule

import (
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// appOf returns the app of a configuration, one with the defaults if it has
// none. It is for Provision.
func appOf(ctx caddy.Context) (*App, error) {
	app, err := ctx.App("robots_guard")
	if err != nil {
		return nil, err
	}
	return app.(*App), nil
}

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
func overlayOf(registry *uaident.Registry, standing *policy.Standing) *uaident.Overlay {
	if standing != nil && standing.Good != nil {
		if names, ok := standing.Good.Derived.(*policyNames); ok {
			return names.overlay(registry, standing.Good.Robots)
		}
	}
	return nil
}
