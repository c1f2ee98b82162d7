package report

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
)

// ClientNameCount has the number of requests with one name, for clients that are counted under a
// common token: _other for names that neither the registry nor robots.txt has, and _spoofed for
// spoofed clients. A name has at most 64 bytes, all printable.
type ClientNameCount struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Estimate
	// Disallowed is the minimum number of disallowed requests. The exact number is unknown.
	Disallowed uint64 `json:"disallowed"`
}

// HostCount is the number of requests to one host of a site with several hosts, for example
// *.example.com.
type HostCount struct {
	Host string `json:"host"`
	Estimate
	// Disallowed is the maximum number of disallowed requests, and Blocked the maximum number of
	// those that the guard blocked. The exact numbers are unknown. 0 can also mean that other hosts
	// have more such requests.
	Disallowed uint64 `json:"disallowed"`
	Blocked    uint64 `json:"blocked"`
}

// maxTopNames is the maximum number of client names of a crawler in a list of crawlers.
const maxTopNames = 20

// countClientNames returns the names of clients that share a token, most frequent first, or nil.
func (v *filteredSource) countClientNames(entries []siteRow) (list []ClientNameCount) {
	for e, item := range itemsInWindow(v, entries, func(w *ledger.Row) []spacesaving.Item[string] { return w.Names.Items }) {
		list = append(list, ClientNameCount{Name: item.Key, Class: e.row.Class, Estimate: newEstimate(item), Disallowed: lowerBound(e.row.NamesOfViolators, item.Key)})
	}
	if len(list) == 0 {
		return nil
	}
	key := func(n ClientNameCount) [2]string { return [...]string{n.Name, n.Class} }
	return mergeEstimates(list, key, func(to *ClientNameCount, from ClientNameCount) { to.Disallowed += from.Disallowed })
}

// lowerBound returns the minimum number of occurrences of a name, or 0 if the sketch does not
// contain the name.
func lowerBound(names spacesaving.Sketch[string], name string) uint64 {
	i := names.PositionOf(name)
	if i < 0 {
		return 0
	}
	return names.Items[i].Count - names.Items[i].Error
}

// upperBound returns the maximum number of occurrences of a key, or 0 if the sketch does not
// contain the key.
func upperBound(keys spacesaving.Sketch[string], key string) uint64 {
	if i := keys.PositionOf(key); i >= 0 {
		return keys.Items[i].Count
	}
	return 0
}

// countSpoofedRequests returns the minimum number of requests of spoofed clients that use a
// crawler's name. countSpoofedRequests ignores the class and identity of the filter.
func (v *filteredSource) countSpoofedRequests(token string) uint64 {
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
				if occurredInWindow(v, item) {
					v.impostorCounts[item.Key] += item.Count - item.Error
				}
			}
		}
	}
	return v.impostorCounts[token]
}

// hostCounts returns the requests by host of a site with several hosts: most disallowed requests
// first, then most requests. The result is nil for a site with one host.
func (v *filteredSource) hostCounts(name string) (list []HostCount) {
	i := slices.IndexFunc(v.Ledger.Sites, func(s *ledger.Site) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	site := v.Ledger.Sites[i]
	add := func(items []spacesaving.Item[string]) {
		for _, item := range items {
			if occurredInWindow(v, item) && !slices.ContainsFunc(list, func(h HostCount) bool { return h.Host == item.Key }) {
				list = append(list, HostCount{item.Key, newEstimate(item), upperBound(site.HostViolations, item.Key), upperBound(site.HostBlocks, item.Key)})
			}
		}
	}
	add(site.Hosts.Items)
	add(site.HostViolations.Items) // The sketch of the most frequent hosts may lack this host.
	slices.SortStableFunc(list, func(a, b HostCount) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), compareEstimates(a.Estimate, b.Estimate))
	})
	return list
}

// firstItems returns the first elements of a list, at most as many as most.
func firstItems[T any](list []T, most int) []T { return list[:min(len(list), most)] }
