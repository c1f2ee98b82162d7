package request

import (
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Adopt takes over what a cache knows of a site of a server by its other keys, and returns
// these.
func (s *Sites) Adopt(cache *policy.Cache, server *caddyhttp.Server, key policy.Key) (adopted []policy.Key) {
	if key.Source != "" || server == nil {
		return nil // its key goes by nothing else
	}
	for _, before := range otherKeys(server, key) {
		known := cache.Get(before)
		if known == nil || known.State() == nil || s.isOfAnother(server, before) {
			continue
		}
		cache.Restore(key, key.Segment(), *known.State(), true)
		adopted = append(adopted, before)
	}
	return adopted
}

// otherKeys returns the keys that a site of a server may have had by another configuration:
// one with another server for its host, or with none beside it, and one in which a wildcard,
// a site for any host or one of its own has the host.
func otherKeys(server *caddyhttp.Server, key policy.Key) (others []policy.Key) {
	name, _ := addr.CutPort(key.Host)
	name = addr.Unbracket(name)
	_, parent, _ := strings.Cut(name, ".")
	for i, site := range [...]string{key.Site, name, "*." + parent, ""} {
		for _, listens := range [...]string{"", listensOf(server)} {
			other := key
			other.Site, other.Server = site, listens
			if other != key && (i == 0 || site != key.Site) {
				others = append(others, other)
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
		if other != server && s.Of(other).Name == key.Server && s.guardedHosts(other)[key.Site] {
			return true
		}
	}
	return false
}

// listensOf returns where a server listens, which is its name in keys where it has one.
func listensOf(server *caddyhttp.Server) string { return strings.Join(server.Listen, ",") }
