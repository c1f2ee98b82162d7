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

// namedBy returns the request of a judgement with its client identified by the names in a
// version: another text than ours may have a group for it that ours has not. Nobody becomes a
// browser by it.
func (g *Guard) namedBy(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	if q := g.asIfNamedBy(r, j, version); q.Client.Class != uaident.Browser {
		return q
	}
	return j.Request
}

// foretold returns the request of a judgement as it would be if a version were the text in
// force: without the names in ours its client may be somebody else, or a browser.
func (g *Guard) foretold(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := g.asIfNamedBy(r, j, version)
	if q.Client.Crawler != j.Client.Crawler {
		q.Identity, _ = g.Identity.Identify(r, q.Client)
	}
	return q
}

// asIfNamedBy is namedBy for whatever the client is by those names.
func (g *Guard) asIfNamedBy(r *http.Request, j *Judgement, version *policy.Version) judge.Request {
	q := j.Request
	names, ok := version.Derived.(*policyNames)
	if !ok {
		return q
	}
	registry := g.Registry.Load()
	q.Client = g.Settings.Identify(registry, request.UserAgentOf(r), names.overlay(registry, version.Robots))
	return q
}
