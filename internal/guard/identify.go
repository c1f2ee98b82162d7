package guard

import (
	"net/http"
	"sync/atomic"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// reidentifyExceptAsBrowser returns the request with its client identified by the names in a
// version, as reidentify does. If the client would be a browser, it returns the request unchanged,
// because a browser has no judgement.
func (g *Guard) reidentifyExceptAsBrowser(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	if q := g.reidentify(r, j, version); q.Client.Class != uaident.Browser {
		return q
	}
	return j.Request
}

// reidentifyAndVerify returns the request with its client identified by the names in a version on
// trial, as reidentify does. If this makes the client another crawler or a browser, its identity is
// verified again.
func (g *Guard) reidentifyAndVerify(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := g.reidentify(r, j, version)
	if q.Client.Crawler != j.Client.Crawler {
		q.Verification, _ = g.Identity.VerifyClient(r, q.Client)
	}
	return q
}

// reidentify returns the judged request with its client identified by the crawler names in a
// version, as if this version were in force.
func (g *Guard) reidentify(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := j.Request
	names, ok := version.Derived.(*overlayCache)
	if !ok {
		return q
	}
	registry := g.Registry.Load()
	q.Client = g.Settings.Identify(registry, site.RequestUserAgent(r), names.overlayFor(registry, version.Robots))
	return q
}

// overlayCache caches the overlay of a robots.txt: its crawler names that the registry lacks. The
// robots.txt can outlive a configuration and its registry.
type overlayCache struct {
	lastOverlay atomic.Pointer[registryOverlay]
}

// registryOverlay is a cached overlay, nil for none, and the registry for which it was made. The
// weak pointer lets the garbage collector free an unused registry while the robots.txt stays
// cached.
type registryOverlay struct {
	registry weak.Pointer[uaident.Registry]
	overlay  *uaident.Overlay
}

// newOverlayCache returns an empty cache, for [policy.Version.Derived]. The first identification of a
// client fills the cache, because the registry may change.
func newOverlayCache(*policy.Robots) any { return new(overlayCache) }

// overlayFor returns the names in robots that the registry lacks, or nil if it has them all.
func (n *overlayCache) overlayFor(registry *uaident.Registry, robots *policy.Robots) *uaident.Overlay {
	known := n.lastOverlay.Load()
	if known == nil || known.registry.Value() != registry {
		known = &registryOverlay{weak.Make(registry), registry.NewOverlay(robots.GroupNames())}
		n.lastOverlay.Store(known)
	}
	return known.overlay
}

// overlayForState returns the names in the cached robots.txt of a site that the registry lacks.
// overlayForState returns nil if there are none.
func overlayForState(registry *uaident.Registry, state *policy.State) *uaident.Overlay {
	if state != nil && state.Current != nil {
		if names, ok := state.Current.Derived.(*overlayCache); ok {
			return names.overlayFor(registry, state.Current.Robots)
		}
	}
	return nil
}
