package guard

import (
	"sync/atomic"
	"weak"

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

// identify tells who a client is, and, unless it is a browser, what is known of the site
// without reading anything, nil where there is nothing.
func (g *Guard) identify(userAgent string, kept *keptSite, key *policy.Key) (client uaident.Identity, agent *familiarAgent, entry *policy.Entry, atHand *policy.State) {
	registry := g.Registry.Load()
	now := g.momentOf(registry) // before the text is looked at, which may become another meanwhile
	plain := kept.isPlain(now)
	if plain {
		if client, agent = g.shared.familiar.identify(registry, userAgent, &noOverlay); client.Class == uaident.Browser {
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
	client, agent = g.shared.familiar.identify(registry, userAgent, beside)
	return client, agent, entry, atHand
}
