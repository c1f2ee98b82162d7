package request

import (
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// OtherKeys returns the keys that a site of a server may have had by another configuration:
// one with another server for its host, or with none beside it, and one in which a wildcard,
// a site for any host or one of its own has the host.
func OtherKeys(server *caddyhttp.Server, key policy.Key) (others []policy.Key) {
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

// IsOfAnother reports whether another server of the configuration has a guard for the site of
// a key.
func (s *Sites) IsOfAnother(server *caddyhttp.Server, key policy.Key) bool {
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
