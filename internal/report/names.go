package report

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
)

// NameCount is the number of requests with the client's own name under a shared token.
// Clients share _other for names neither in the registry nor in robots.txt, and _spoofed for
// spoofed names. A name has at most 64 bytes, all printable.
type NameCount struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Estimate
	// Disallowed is a lower bound of the number of disallowed requests.
	Disallowed uint64 `json:"disallowed"`
}

// HostCount is a host of a site with several hosts, for example *.example.com.
type HostCount struct {
	Host string `json:"host"`
	Estimate
	// Disallowed and Blocked are upper bounds of the disallowed requests and of the blocked
	// requests.
	Disallowed uint64 `json:"disallowed"`
	Blocked    uint64 `json:"blocked"`
}

// maxTopNames is the maximum number of names of a crawler in a list.
const maxTopNames = 20

// countClientNames returns the names under shared tokens, most frequent first, or nil.
func (v *view) countClientNames(entries []siteRow) (list []NameCount) {
	for e, item := range itemsInWindow(v, entries, func(w *ledger.Row) []spacesaving.Item[string] { return w.Names.Items }) {
		list = append(list, NameCount{Name: item.Key, Class: e.row.Class, Estimate: newEstimate(item), Disallowed: lowerBoundOf(e.row.NamesOfViolators, item.Key)})
	}
	if len(list) == 0 {
		return nil
	}
	key := func(n NameCount) [2]string { return [...]string{n.Name, n.Class} }
	return mergeEstimates(list, key, func(to *NameCount, from NameCount) { to.Disallowed += from.Disallowed })
}

// lowerBoundOf returns a lower bound of the count of a name.
func lowerBoundOf(names spacesaving.Sketch[string], name string) uint64 {
	i := names.PositionOf(name)
	if i < 0 {
		return 0
	}
	return names.Items[i].Count - names.Items[i].Error
}

// upperBoundOf returns an upper bound of the count of a key, or 0 for a key outside the sketch.
func upperBoundOf(keys spacesaving.Sketch[string], key string) uint64 {
	if i := keys.PositionOf(key); i >= 0 {
		return keys.Items[i].Count
	}
	return 0
}

// impostorRequests returns the number of requests by spoofed clients with a crawler's name,
// whatever the class and identity of the filter.
func (v *view) impostorRequests(token string) uint64 {
	if v.impostorCounts != nil {
		return v.impostorCounts[token]
	}
	v.impostorCounts = make(map[string]uint64)
	for _, site := range v.Ledger.Sites {
		if v.filter.Site != "" && site.Name != v.filter.Site {
			continue
		}
		for _, row := range site.Rows {
			if row.Token != judge.SpoofedName {
				continue
			}
			for _, item := range row.Names.Items {
				if seenInWindow(v, item) {
					v.impostorCounts[item.Key] += item.Count - item.Error
				}
			}
		}
	}
	return v.impostorCounts[token]
}

// hosts returns the hosts of a site with several hosts, by disallowed requests and then by
// requests. The result is nil for a site with one host.
func (v *view) hosts(name string) (list []HostCount) {
	i := slices.IndexFunc(v.Ledger.Sites, func(s *ledger.Site) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	site := v.Ledger.Sites[i]
	add := func(items []spacesaving.Item[string]) {
		for _, item := range items {
			if seenInWindow(v, item) && !slices.ContainsFunc(list, func(h HostCount) bool { return h.Host == item.Key }) {
				list = append(list, HostCount{item.Key, newEstimate(item), upperBoundOf(site.HostViolations, item.Key), upperBoundOf(site.HostBlocks, item.Key)})
			}
		}
	}
	add(site.Hosts.Items)
	add(site.HostViolations.Items) // may lack in the most frequent hosts
	slices.SortStableFunc(list, func(a, b HostCount) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), compareCounts(a.Estimate, b.Estimate))
	})
	return list
}

// firstItems returns at most the first most elements of a list.
func firstItems[T any](list []T, most int) []T { return list[:min(len(list), most)] }
