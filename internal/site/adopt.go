package site

import (
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// AdoptFromFormerKeys restores the cached robots.txt of a site, after a change of the
// configuration, from the keys that the site may have had before. It copies only state that is
// newer than the site's own, and makes it due for a fetch at once. The result has the keys of the
// copied state.
func (s *Sites) AdoptFromFormerKeys(cache *policy.Cache, server *caddyhttp.Server, site *Site) (adopted []policy.Key) {
	since := lastFetched(cache.Get(site.Key))
	for _, before := range site.formerKeys(server) {
		known := cache.Get(before)
		if known == nil || known.State() == nil || !since.IsZero() && !lastFetched(known).After(since) || before.Source == "" && s.belongsToOtherServer(server, before) {
			continue
		}
		state := *known.State()
		state.NextFetch = lastFetched(known) // The copy is due for a fetch, because another file may be served here.
		cache.Restore(site.Key, site.Key.Segment(), state, true)
		adopted = append(adopted, before)
	}
	return adopted
}

// lastFetched returns the time of the last successful fetch of a cached robots.txt, or the zero
// time without a robots.txt.
func lastFetched(e *policy.Entry) (at time.Time) {
	if good := e.Current(); good != nil {
		at = good.LastFetched
	}
	return at
}

// formerKeys returns the keys that the robots.txt of a site may have had in a previous
// configuration. That configuration may have had the host at another server, or at one server
// instead of several. The host may have been a separate site, or only in a wildcard or in a site
// for any host. A configured source is the same for every server.
func (s *Site) formerKeys(server *caddyhttp.Server) (others []policy.Key) {
	add := func(other policy.Key) {
		if other != s.Key && !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	name, _ := addr.SplitPort(s.OwnKey().Host)
	name = addr.Unbracket(name)
	_, parent, _ := strings.Cut(name, ".")
	for _, site := range [...]string{s.OwnKey().Site, name, "*." + parent, ""} {
		own := *s.OwnKey()
		own.Site = site
		switch {
		case s.Key.Source != "":
			add(NewSite(own).WithSource(s.Key.Source).Key)
		case server != nil:
			for _, own.Server = range [...]string{"", ListenAddresses(server)} {
				add(own)
			}
		}
	}
	return others
}

// belongsToOtherServer reports whether key belongs to a site with a guard at another server of the
// configuration.
func (s *Sites) belongsToOtherServer(server *caddyhttp.Server, key policy.Key) bool {
	if s.Servers == nil {
		return false
	}
	for _, other := range s.Servers() {
		if other != server && s.HostsOfServer(other).ServerName == key.Server && s.guardedHosts(other)[key.Site] {
			return true
		}
	}
	return false
}
