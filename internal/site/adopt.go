package site

import (
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Adopt copies the cached state of a site from its other keys to its key if newer, and returns the
// other keys.
func (s *Sites) Adopt(cache *policy.Cache, server *caddyhttp.Server, site *Site) (adopted []policy.Key) {
	since := lastFetched(cache.Get(site.Key))
	for _, before := range site.otherKeys(server) {
		known := cache.Get(before)
		if known == nil || known.State() == nil || !since.IsZero() && !lastFetched(known).After(since) || before.Source == "" && s.isOfAnother(server, before) {
			continue
		}
		state := *known.State()
		state.NextFetch = lastFetched(known) // and so is due: another file may be served here
		cache.Restore(site.Key, site.Key.Segment(), state, true)
		adopted = append(adopted, before)
	}
	return adopted
}

// lastFetched returns when the robots.txt of an entry was read last, zero for never.
func lastFetched(e *policy.Entry) (at time.Time) {
	if good := e.Current(); good != nil {
		at = good.LastFetched
	}
	return at
}

// otherKeys returns the keys that the robots.txt of a site may have had in another configuration.
// In this configuration, the host may have had another server, or no second server. A wildcard, a
// site for any host or a separate site may have had the host. A source is the same for every
// server.
func (s *Site) otherKeys(server *caddyhttp.Server) (others []policy.Key) {
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

// isOfAnother reports whether another server of the configuration has a guard for the site of
// a key.
func (s *Sites) isOfAnother(server *caddyhttp.Server, key policy.Key) bool {
	if s.Servers == nil {
		return false
	}
	for _, other := range s.Servers() {
		if other != server && s.HostsOf(other).Name == key.Server && s.guardedHosts(other)[key.Site] {
			return true
		}
	}
	return false
}
