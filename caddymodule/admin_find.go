package caddymodule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// findEntry returns the entry that goes by a name at a server, at any if that is
// "", the one of https if there are two.
func findEntry(s *state, name, server string) *policy.Entry {
	if s == nil || name == "" {
		return nil
	}
	name = pathName(name)
	scheme, authority, ok := strings.Cut(name, ":/")
	if !ok {
		scheme, authority = "", name
	}
	host, port := cutPort(authority)
	normal := map[bool]string{true: normalHost(authority, true), false: normalHost(authority, false)}
	var found *policy.Entry
	best := 0
	for _, e := range sortedEntries(s) {
		key, rank := e.Key(), 0
		switch {
		case server != "" && key.Server != server:
			continue
		case key.Source == "" && scheme != "" && scheme != schemeOf(key.Secure):
			continue
		}
		own, _ := cutPort(key.Host)
		switch {
		case pathName(key.String()) == name:
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

// sortedEntries returns what the cache knows in a fixed order.
func sortedEntries(s *state) []sortedEntry {
	if s == nil {
		return nil
	}
	var entries []sortedEntry
	for _, e := range s.cache.Entries() {
		entries = append(entries, sortedEntry{pageKey(e.Key()), e})
	}
	slices.SortFunc(entries, func(a, b sortedEntry) int { return cmp.Compare(a.key, b.key) })
	return entries
}

// pageKey is what policies are sorted by: the authority, and what else tells two
// sites of one authority apart, if it is not just what the authority says.
func pageKey(key policy.Key) string {
	host, _ := cutPort(key.Host)
	if key.Server == "" && key.Forwarded == "" && key.Site == host {
		return key.String()
	}
	return key.String() + " " + key.Quoted()
}

// pathName is the name of an authority or a source as it stands in a path.
func pathName(name string) string {
	return strings.TrimPrefix(strings.Replace(name, "://", ":/", 1), "/")
}
