package admin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// findEntry returns the cached robots.txt of an authority, URL or file, or nil. server is the
// address of the Caddy server, or "" for any. If two entries match equally, https has precedence.
func findEntry(entries []*policy.Entry, name, server string) *policy.Entry {
	if name == "" {
		return nil
	}
	name = PathEscapeName(name)
	scheme, authority := splitScheme(name)
	host, port := addr.SplitPort(authority)
	normal := map[bool]string{true: site.NormalizeHost(authority, true), false: site.NormalizeHost(authority, false)}
	var found *policy.Entry
	best := 0
	for _, e := range sortEntries(entries) {
		key, rank := e.Key(), 0
		switch {
		case server != "" && key.Server != server:
			continue
		case key.Source == "" && scheme != "" && scheme != keyScheme(key):
			continue
		}
		own, _ := addr.SplitPort(key.Host)
		switch {
		case PathEscapeName(key.String()) == name:
			rank = 4
		case key.Source != "":
		case key.Host == authority && key.IsHTTPS:
			rank = 3
		case key.Host == authority:
			rank = 2
		case port == "" && own == host, key.Host == normal[key.IsHTTPS]:
			rank = 1 // The authorities differ in the port or in the spelling of the host.
		}
		if rank > best {
			found, best = e.Entry, rank
		}
	}
	return found
}

// sortedEntry is a cached robots.txt with the key by which the list is sorted.
type sortedEntry struct {
	key string
	*policy.Entry
}

// sortEntries returns the cached robots.txt files sorted by [sortKey].
func sortEntries(entries []*policy.Entry) []sortedEntry {
	all := make([]sortedEntry, len(entries))
	for i, e := range entries {
		all[i] = sortedEntry{sortKey(e.Key()), e}
	}
	slices.SortFunc(all, func(a, b sortedEntry) int { return cmp.Compare(a.key, b.key) })
	return all
}

// sortKey returns the authority or source of a robots.txt. The other parts of the key follow if
// they distinguish it from others with the same authority.
func sortKey(key policy.Key) string {
	host, _ := addr.SplitPort(key.Host)
	if key.Server == "" && key.ForwardedHost == "" && key.Site == host {
		return key.String()
	}
	return key.String() + " " + key.UniqueString()
}

// PathEscapeName returns the name of a robots.txt (authority, URL or file) as a part of a URL path.
// The result has one slash after the scheme, and no leading slash.
func PathEscapeName(name string) string {
	return strings.TrimPrefix(strings.Replace(name, "://", ":/", 1), "/")
}

// splitScheme splits a name into the scheme, or "" without one, and the authority.
func splitScheme(name string) (scheme, authority string) {
	name = PathEscapeName(name)
	if scheme, authority, ok := strings.Cut(name, ":/"); ok {
		return scheme, authority
	}
	return "", name
}

func keyScheme(key policy.Key) string {
	if key.IsHTTPS {
		return "https"
	}
	return "http"
}
