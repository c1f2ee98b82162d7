package guard

import (
	"net/http"
	"sync/atomic"

	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// keptSite is what a guard keeps at hand of a site that the configuration names, so that a
// request looks its host up and nothing else.
type keptSite struct {
	*request.Site                            // with where its robots.txt comes from
	entry         atomic.Pointer[policy.Ref] // to the one that was found last
	present       atomic.Bool                // it is known that the guard judges for it
	host          *metrics.Host              // where its requests are counted
	among         *request.KeptSite          // with what other guards keep of it
}

// namedSite is siteOf for a host just as the configuration names it, and nil for all
// others. It is made once.
func (g *Guard) namedSite(r *http.Request) *keptSite {
	secure, ok := request.SchemeSent(r)
	if !ok {
		return nil
	}
	known, hash := g.sitesOf(r), hashOfSite(r.Host, secure)
	if kept := known.table.find(hash); kept != nil {
		return kept
	}
	site := known.Site(r)
	if site == nil {
		return nil
	}
	site.Kept()
	return known.table.add(hash, g.keep(site))
}

// keep returns what is kept of a site.
func (g *Guard) keep(s *request.KeptSite) *keptSite {
	kept := &keptSite{Site: &s.Site, host: g.Metrics.Host(s.Label), among: s}
	if sourced := g.sourced(s.Site); sourced != s.Site {
		kept.Site = &sourced
	}
	return kept
}

// mayHaveComeThrough reports whether the request of a judgement may have come through another
// guard before this one.
func (j *Judgement) mayHaveComeThrough() bool { return j.kept == nil || j.kept.among.IsShared() }

// hostOf returns where the requests of the site of a judgement are counted.
func (g *Guard) hostOf(j *Judgement) *metrics.Host {
	if j.kept != nil {
		return j.kept.host
	}
	return g.Metrics.Host(j.Site.Label)
}

// entryOf returns the entry of a site, nil if there is none. kept is nil for a host that the
// configuration does not name just so.
func (g *Guard) entryOf(kept *keptSite, key *policy.Key) *policy.Entry {
	if kept == nil {
		return g.shared.Cache.Get(*key)
	}
	if last := kept.entry.Load(); last != nil {
		if e := last.Entry(); e != nil {
			return e
		}
	}
	e := g.shared.Cache.Get(*key)
	if e != nil {
		kept.entry.Store(e.Ref())
	}
	return e
}
