package guard

import (
	"net/http"
	"sync/atomic"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// moment is while clients are identified by one registry and no site gets another text. It
// does not keep the registry: nobody may ask the guard for long.
type moment struct {
	registry weak.Pointer[uaident.Registry]
	edits    uint64 // of the texts in the cache
	number   uint64 // which no other has, and is not 0
}

var moments atomic.Uint64 // the last number of one

// momentOf returns what is now.
func (g *Guard) momentOf(registry *uaident.Registry) *moment {
	edits := g.shared.Cache.Edits()
	now := g.moment.Load()
	if now == nil || now.registry.Value() != registry || now.edits != edits {
		now = &moment{weak.Make(registry), edits, moments.Add(1)}
		g.moment.Store(now)
	}
	return now
}

// isPlain reports whether the text of a site was seen at this moment to know no names that
// the registry does not. Most know none, and a browser's request need not look further.
func (k *keptSite) isPlain(now *moment) bool { return k != nil && k.plain.Load() == now.number }

// clientOf identifies a client by a registry, the names of a robots.txt, and those of the
// settings. It also returns the User-Agent as it is remembered, nil if it is not.
func (g *Guard) clientOf(registry *uaident.Registry, userAgent string, beside *overlayBeside) (uaident.Identity, *familiarAgent) {
	client, agent := g.shared.familiar.identify(registry, userAgent, beside)
	if client.Class == uaident.Browser && g.Settings.Named != nil {
		client = registry.IdentifyWith(userAgent, g.Settings.Named)
	}
	return client, agent
}

// identify tells who a client is, and, unless it is a browser, what is known of the site
// without reading anything, nil where there is nothing.
func (g *Guard) identify(userAgent string, kept *keptSite, key *policy.Key) (client uaident.Identity, agent *familiarAgent, entry *policy.Entry, atHand *policy.State) {
	registry := g.Registry.Load()
	now := g.momentOf(registry) // before the text is looked at, which may become another meanwhile
	plain := kept.isPlain(now)
	if plain {
		if client, agent = g.clientOf(registry, userAgent, &noOverlay); client.Class == uaident.Browser {
			return client, nil, nil, nil
		}
	}
	entry = g.entryOf(kept, key)
	atHand = g.atHand(entry, key)
	beside := overlayOf(registry, atHand)
	switch {
	case plain && beside.overlay == nil:
		return client, agent, entry, atHand
	case kept != nil && beside.overlay == nil:
		kept.plain.Store(now.number)
	}
	client, agent = g.clientOf(registry, userAgent, beside)
	return client, agent, entry, atHand
}

// identifyAgain tells who the client of a judgement is by the names in the text that it is
// judged by now, if it was identified by those of another text, the one known before: the new
// text may have a group for it. It returns the state by which the client is identified, now or
// before. Nobody becomes a browser by it, of which nothing would be judged.
func (g *Guard) identifyAgain(r *http.Request, j *Judgement, before, now *policy.State) *policy.State {
	if now == before || now == nil || now.Good == nil || before != nil && before.Good == now.Good {
		return before
	}
	registry := g.Registry.Load()
	beside := overlayOf(registry, now)
	if beside.overlay == overlayOf(registry, before).overlay {
		return now
	}
	client, agent := g.clientOf(registry, request.UserAgentOf(r), beside)
	if client.Class == uaident.Browser {
		return before
	}
	j.Client, j.agent, j.Names = client, agent, nil
	if agent != nil {
		j.Names = agent.names
	}
	j.Identity, j.Proof = g.Identity.Identify(r, client)
	return now
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
	client, agent := g.clientOf(registry, request.UserAgentOf(r), names.overlay(registry, version.Robots))
	if q.Client, q.Names = client, nil; agent != nil {
		q.Names = agent.names
	}
	return q
}
