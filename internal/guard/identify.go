package guard

import (
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// identify tells who a client is, and what is known of the site without reading anything, nil
// where there is nothing.
func (g *Guard) identify(userAgent string, kept *keptSite, key *policy.Key) (client uaident.Identity, entry *policy.Entry, cached *policy.State) {
	registry := g.Registry.Load()
	entry = g.entryOf(kept, key)
	if entry != nil {
		cached = entry.State()
	}
	return g.Settings.Identify(registry, userAgent, overlayOf(registry, cached)), entry, cached
}

// reidentifyCrawler is reidentify for a client that stays a crawler: if the names in version
// make it a browser, it keeps its identity. Another file than our copy may have a group for the
// client that our copy does not have.
func (g *Guard) reidentifyCrawler(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	if q := g.reidentify(r, j, version); q.Client.Class != uaident.Browser {
		return q
	}
	return j.Request
}

// reidentifyForTrial is reidentify as if version were in force: without the names in our copy the
// client may be another one, or a browser, and its identity is verified again.
func (g *Guard) reidentifyForTrial(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := g.reidentify(r, j, version)
	if q.Client.Crawler != j.Client.Crawler {
		q.Identity, _ = g.Identity.Identify(r, q.Client)
	}
	return q
}

// reidentify returns the request of a judgement with its client identified by the crawler names
// that stand in version.
func (g *Guard) reidentify(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := j.Request
	names, ok := version.Derived.(*policyNames)
	if !ok {
		return q
	}
	registry := g.Registry.Load()
	q.Client = g.Settings.Identify(registry, request.UserAgentOf(r), names.overlay(registry, version.Robots))
	return q
}
