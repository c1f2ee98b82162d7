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

// identify identifies a client, and returns the cached entry and state of the site, or nil.
func (g *Guard) identify(userAgent string, key *policy.Key) (client uaident.Identity, entry *policy.Entry, cached *policy.State) {
	registry := g.Registry.Load()
	entry = g.state.Cache.Get(*key)
	if entry != nil {
		cached = entry.State()
	}
	return g.Settings.Identify(registry, userAgent, overlayOf(registry, cached)), entry, cached
}

// reidentifyCrawler is reidentify for a request whose judgement must remain: the client keeps its
// identity if the names in version would make it a browser.
func (g *Guard) reidentifyCrawler(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	if q := g.reidentify(r, j, version); q.Client.Class != uaident.Browser {
		return q
	}
	return j.Request
}

// reidentifyForTrial is reidentify as if version were in force. Without the names in our copy, the
// client may be another crawler or a browser, so its identity is verified again.
func (g *Guard) reidentifyForTrial(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := g.reidentify(r, j, version)
	if q.Client.Crawler != j.Client.Crawler {
		q.Verification, _ = g.Identity.Identify(r, q.Client)
	}
	return q
}

// reidentify returns the request with the client identified by the crawler names in version.
func (g *Guard) reidentify(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := j.Request
	names, ok := version.Derived.(*policyNames)
	if !ok {
		return q
	}
	registry := g.Registry.Load()
	q.Client = g.Settings.Identify(registry, site.UserAgentOf(r), names.overlayFor(registry, version.Robots))
	return q
}

// policyNames has the crawler names of a robots.txt that a registry lacks. The robots.txt can
// outlive a configuration and its registry.
type policyNames struct {
	lastOverlay atomic.Pointer[registryOverlay]
}

// registryOverlay is an overlay, nil for none, with its registry. The weak pointer lets an unused
// registry go while the robots.txt stays cached.
type registryOverlay struct {
	registry weak.Pointer[uaident.Registry]
	overlay  *uaident.Overlay
}

// deriveNames makes the value stored in the cache with each robots.txt.
func deriveNames(*policy.Robots) any { return new(policyNames) }

// overlayFor returns the names in robots missing from the registry, or nil.
func (n *policyNames) overlayFor(registry *uaident.Registry, robots *policy.Robots) *uaident.Overlay {
	known := n.lastOverlay.Load()
	if known == nil || known.registry.Value() != registry {
		known = &registryOverlay{weak.Make(registry), registry.NewOverlay(robots.Names())}
		n.lastOverlay.Store(known)
	}
	return known.overlay
}

// overlayOf returns the names in the robots.txt of a site missing from the registry, or nil.
func overlayOf(registry *uaident.Registry, state *policy.State) *uaident.Overlay {
	if state != nil && state.Current != nil {
		if names, ok := state.Current.Derived.(*policyNames); ok {
			return names.overlayFor(registry, state.Current.Robots)
		}
	}
	return nil
}
