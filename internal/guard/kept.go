package guard

import (
	"net/http"
	"sync/atomic"

	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// keptSite has the data of a configured site that a guard needs for each request. A request then
// needs only one lookup by host.
type keptSite struct {
	*site.Site                                 // with the key of the guard's source
	entry      atomic.Pointer[policy.EntryRef] // of the last lookup
	present    atomic.Bool                     // presences has the guard at this site
	host       *metrics.Host                   // for counting
	among      *site.ConfiguredSite            // shared with other guards
	offer      pathOffer
}

// namedSite returns the site of a request whose host is spelled as configured, or nil for other hosts.
func (g *Guard) namedSite(r *http.Request) *keptSite {
	secure, ok := site.SchemeSent(r)
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

// keep returns the cached data of a site.
func (g *Guard) keep(s *site.ConfiguredSite) *keptSite {
	kept := &keptSite{Site: &s.Site, host: g.Metrics.Host(s.Label), among: s}
	kept.offer = pathOffer{g, kept}
	if sourced := g.sourced(s.Site); sourced != s.Site {
		kept.Site = &sourced
	}
	return kept
}

// mayHaveComeThrough reports whether the request may have a judgement of an earlier guard.
func (j *Judgement) mayHaveComeThrough() bool { return j.kept == nil || j.kept.among.IsShared() }

// hostOf returns the metrics of the judgement's site.
func (g *Guard) hostOf(j *Judgement) *metrics.Host {
	if j.kept != nil {
		return j.kept.host
	}
	return g.Metrics.Host(j.Site.Label)
}

// entryOf returns the entry of a site, or nil. kept is nil for a host unknown to namedSite.
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
