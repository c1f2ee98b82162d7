package admin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// findEntry returns the entry with a name at a server, or at any server for "". With two entries,
// https has precedence.
func findEntry(entries []*policy.Entry, name, server string) *policy.Entry {
	if name == "" {
		return nil
	}
	name = PathEscapeName(name)
	scheme, authority := schemeAndAuthority(name)
	host, port := addr.SplitPort(authority)
	normal := map[bool]string{true: site.NormalizeHost(authority, true), false: site.NormalizeHost(authority, false)}
	var found *policy.Entry
	best := 0
	for _, e := range sortEntries(entries) {
		key, rank := e.Key(), 0
		switch {
		case server != "" && key.Server != server:
			continue
		case key.Source == "" && scheme != "" && scheme != schemeOf(key):
			continue
		}
		own, _ := addr.SplitPort(key.Host)
		switch {
		case PathEscapeName(key.String()) == name:
			rank = 4
		case key.Source != "":
		case key.Host == authority && key.Secure:
			rank = 3
		case key.Host == authority:
			rank = 2
		case port == "" && own == host, key.Host == normal[key.Secure]:
			rank = 1 // another port or another spelling
		}
		if rank > best {
			found, best = e.Entry, rank
		}
	}
	return found
}

// sortedEntry is an entry with its sort key.
type sortedEntry struct {
	key string
	*policy.Entry
}

// sortEntries returns the entries in a fixed order.
func sortEntries(entries []*policy.Entry) []sortedEntry {
	all := make([]sortedEntry, len(entries))
	for i, e := range entries {
		all[i] = sortedEntry{sortKey(e.Key()), e}
	}
	slices.SortFunc(all, func(a, b sortedEntry) int { return cmp.Compare(a.key, b.key) })
	return all
}

// sortKey returns the sort key: the authority, followed by the other parts of the key if they
// matter.
func sortKey(key policy.Key) string {
	host, _ := addr.SplitPort(key.Host)
	if key.Server == "" && key.ForwardedHost == "" && key.Site == host {
		return key.String()
	}
	return key.String() + " " + key.UniqueString()
}

// PathEscapeName returns the name of an authority or a source inside a path.
func PathEscapeName(name string) string {
	return strings.TrimPrefix(strings.Replace(name, "://", ":/", 1), "/")
}

// schemeAndAuthority splits a name into the scheme, which may be "", and the authority.
func schemeAndAuthority(name string) (scheme, authority string) {
	name = PathEscapeName(name)
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
