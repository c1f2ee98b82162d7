package admin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// entryOf returns the entry that goes by a name at a server, at any if that is
// "", the one of https if there are two.
func (a *API) entryOf(entries []*policy.Entry, name, server string) *policy.Entry {
	if name == "" {
		return nil
	}
	name = PathName(name)
	scheme, authority := schemeAndAuthority(name)
	host, port := addr.CutPort(authority)
	normal := map[bool]string{true: request.NormalHost(authority, true), false: request.NormalHost(authority, false)}
	var found *policy.Entry
	best := 0
	for _, e := range sorted(entries) {
		key, rank := e.Key(), 0
		switch {
		case server != "" && key.Server != server:
			continue
		case key.Source == "" && scheme != "" && scheme != schemeOf(key):
			continue
		}
		own, _ := addr.CutPort(key.Host)
		switch {
		case PathName(key.String()) == name:
			rank = 4
		case key.Source != "":
		case key.Host == authority && key.Secure:
			rank = 3
		case key.Host == authority:
			rank = 2
		case port == "" && own == host, key.Host == normal[key.Secure]:
			rank = 1 // at whichever port, or in another spelling
		}
		if rank > best {
			found, best = e.Entry, rank
		}
	}
	return found
}

// sortedEntry is an entry and what policies are sorted by.
type sortedEntry struct {
	key string
	*policy.Entry
}

// sorted returns entries in a fixed order.
func sorted(entries []*policy.Entry) []sortedEntry {
	all := make([]sortedEntry, len(entries))
	for i, e := range entries {
		all[i] = sortedEntry{pageKey(e.Key()), e}
	}
	slices.SortFunc(all, func(a, b sortedEntry) int { return cmp.Compare(a.key, b.key) })
	return all
}

// pageKey is what policies are sorted by: the authority, and what else tells two
// sites of one authority apart, if it is not just what the authority says.
func pageKey(key policy.Key) string {
	host, _ := addr.CutPort(key.Host)
	if key.Server == "" && key.ForwardedHost == "" && key.Site == host {
		return key.String()
	}
	return key.String() + " " + key.Quoted()
}

// PathName is the name of an authority or a source as it stands in a path.
func PathName(name string) string {
	return strings.TrimPrefix(strings.Replace(name, "://", ":/", 1), "/")
}

// schemeAndAuthority divides a name into its scheme, "" for none, and the authority.
func schemeAndAuthority(name string) (scheme, authority string) {
	name = PathName(name)
	if scheme, authority, ok := strings.Cut(name, ":/"); ok {
		return scheme, authority
	}
	return "", name
}

func schemeOf(key policy.Key) string {
	if key.Secure {
		return "https"
	}
	return "http"
}
