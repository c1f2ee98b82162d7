package guard

import (
	"net/http"
	"sync/atomic"

	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// cachedSite has the data of a configured site that a guard needs for each request. A request then
// needs only one lookup by host.
type cachedSite struct {
	*site.Site                                 // with the key of the guard's source
	entry      atomic.Pointer[policy.EntryRef] // of the last lookup
	present    atomic.Bool                     // presences has the guard at this site
	host       *metrics.Host                   // for counting
	shared     *site.ConfiguredSite            // one for all guards at the site
	offer      pathOffer
}

// namedSite returns the site of a request whose host is spelled as configured, or nil for other hosts.
func (g *Guard) namedSite(r *http.Request) *cachedSite {
	secure, ok := site.SchemeSent(r)
	if !ok {
		return nil
	}
	known, hash := g.sitesOf(r), hashOfSite(r.Host, secure)
	if configured := known.table.find(hash); configured != nil {
		return configured
	}
	site := known.Site(r)
	if site == nil {
		return nil
	}
	site.AddGuard()
	return known.table.add(hash, g.newCachedSite(site))
}

// newCachedSite returns the cached data of a site.
func (g *Guard) newCachedSite(s *site.ConfiguredSite) *cachedSite {
	configured := &cachedSite{Site: &s.Site, host: g.Metrics.Host(s.Label), shared: s}
	configured.offer = pathOffer{g, configured}
	if sourced := g.sourced(s.Site); sourced != s.Site {
		configured.Site = &sourced
	}
	return configured
}

// mayHaveComeThrough reports whether the request may have a judgement of an earlier guard.
func (j *Judgement) mayHaveComeThrough() bool {
	return j.configured == nil || j.configured.shared.IsShared()
}

// hostMetrics returns the metrics of the judgement's site.
func (g *Guard) hostMetrics(j *Judgement) *metrics.Host {
	if j.configured != nil {
		return j.configured.host
	}
	return g.Metrics.Host(j.Site.Label)
}

// cachedEntry returns the entry of a site, or nil. configured is nil for a host unknown to namedSite.
func (g *Guard) cachedEntry(configured *cachedSite, key *policy.Key) *policy.Entry {
	if configured == nil {
		return g.shared.Cache.Get(*key)
	}
	if last := configured.entry.Load(); last != nil {
		if e := last.Entry(); e != nil {
			return e
		}
	}
	e := g.shared.Cache.Get(*key)
	if e != nil {
		configured.entry.Store(e.Ref())
	}
	return e
}
