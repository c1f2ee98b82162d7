package report

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
)

// Crawler returns the details of the crawler with an ID, see [Crawler.ID]. ok is false if the
// crawler sent no request that matches the filter.
func (s *Source) Crawler(f Filter, id string) (CrawlerDetail, bool) {
	v := s.applyFilter(f)
	entries := v.rowsByCrawler()[id]
	if len(entries) == 0 {
		return CrawlerDetail{}, false
	}
	d := CrawlerDetail{
		ViewHeader: v.header(), Crawler: v.newCrawler(entries), Series: v.newTimeSeries(entries), Rules: v.ruleCounts(entries),
		Paths: v.listViolations(entries), RecentSamples: v.sampleRequests(entries), Agents: v.userAgents(entries), Networks: v.networkCounts(entries),
	}
	slices.Reverse(d.RecentSamples)
	slices.SortStableFunc(d.Paths, func(a, b Violation) int { return compareEstimates(a.Estimate, b.Estimate) })
	for _, site := range groupBySite(entries) {
		at := v.newCrawler(site)
		d.SitesSeen = append(d.SitesSeen, CrawlerSite{
			Site: site[0].site, RequestCounts: at.RequestCounts, RobotsFetch: at.RobotsFetch, RequestsSinceFetch: at.RequestsSinceFetch, Rate: at.Rate,
			FirstSeen: at.FirstSeen, LastSeen: at.LastSeen,
		})
	}
	var sites []string
	for _, site := range d.SitesSeen {
		sites = append(sites, site.Site)
	}
	d.Changes = v.siteChanges(sites)
	return d, true
}

// ruleCounts returns the number of a crawler's disallowed or stale requests by rule, most frequent
// rule first.
func (v *filteredSource) ruleCounts(entries []siteRow) []RuleCount {
	list := []RuleCount{}
	for e, item := range itemsInWindow(v, entries, func(w *ledger.Row) []spacesaving.Item[ledger.RuleKey] { return w.Rules.Items }) {
		list = append(list, RuleCount{Site: e.site, Rule: item.Key.Text, Line: item.Key.Line, Group: item.Key.Group,
			Version: item.Key.Version.String(), Verdict: item.Key.Verdict.String(), Estimate: newEstimate(item)})
	}
	key := func(r RuleCount) [4]string { return [...]string{r.Site, r.Rule, r.Group, r.Verdict} }
	return mergeEstimates(list, key, func(to *RuleCount, from RuleCount) {
		if from.Last.After(to.Last) {
			to.Line, to.Version = from.Line, from.Version
		}
	})
}

// userAgents returns the User-Agents of a crawler, most frequent first.
func (v *filteredSource) userAgents(entries []siteRow) []UserAgent {
	list := []UserAgent{}
	for _, item := range itemsInWindow(v, entries, func(w *ledger.Row) []spacesaving.Item[string] { return w.UserAgents.Items }) {
		list = append(list, UserAgent{item.Key, newEstimate(item)})
	}
	return mergeEstimates(list, func(a UserAgent) string { return a.UserAgent }, nil)
}

// networkCounts returns the number of a crawler's disallowed requests by network, most frequent
// first.
func (v *filteredSource) networkCounts(entries []siteRow) []NetworkCount {
	list := []NetworkCount{}
	for e, item := range itemsInWindow(v, entries, func(w *ledger.Row) []spacesaving.Item[netip.Prefix] { return w.Networks.Items }) {
		list = append(list, NetworkCount{item.Key.String(), e.row.Identity.String(), newEstimate(item)})
	}
	return mergeEstimates(list, func(n NetworkCount) [2]string { return [...]string{n.Network, n.Identity} }, nil)
}

// itemsInWindow returns the most frequent items in one sketch (a counter of bounded size) of each
// row. itemsInWindow omits items that did not occur in the window. items returns the items of the
// sketch.
func itemsInWindow[K comparable](v *filteredSource, entries []siteRow, items func(*ledger.Row) []spacesaving.Item[K]) iter.Seq2[siteRow, spacesaving.Item[K]] {
	return func(yield func(siteRow, spacesaving.Item[K]) bool) {
		for _, e := range entries {
			for _, item := range items(e.row) {
				if occurredInWindow(v, item) && !yield(e, item) {
					return
				}
			}
		}
	}
}

// mergeEstimates adds up the estimates of rows with the same key, and returns one row for each key,
// most frequent first. merge, if not nil, merges the other fields of two rows before their
// estimates are added.
func mergeEstimates[T any, K comparable, P interface {
	*T
	embeddedEstimate() *Estimate
}](rows []T, key func(T) K, merge func(to P, from T)) []T {
	list, positions := []T{}, make(map[K]int)
	for _, row := range rows {
		i, ok := positions[key(row)]
		if !ok {
			positions[key(row)] = len(list)
			list = append(list, row)
			continue
		}
		to := P(&list[i])
		if merge != nil {
			merge(to, row)
		}
		*to.embeddedEstimate() = to.embeddedEstimate().plus(*P(&row).embeddedEstimate())
	}
	slices.SortStableFunc(list, func(a, b T) int { return compareEstimates(*P(&a).embeddedEstimate(), *P(&b).embeddedEstimate()) })
	return list
}

// embeddedEstimate returns e. Row types that embed an Estimate get this method for mergeEstimates.
func (e *Estimate) embeddedEstimate() *Estimate { return e }

// plus returns the sum of two estimates, with the earlier First and the later Last.
func (e Estimate) plus(other Estimate) Estimate {
	e.Count, e.Error = e.Count+other.Count, e.Error+other.Error
	if other.First.Before(e.First) {
		e.First = other.First
	}
	if other.Last.After(e.Last) {
		e.Last = other.Last
	}
	return e
}

// sampleRequests returns examples of a crawler's disallowed requests in the window, oldest first.
func (v *filteredSource) sampleRequests(entries []siteRow) []Sample {
	list := []Sample{}
	for _, e := range entries {
		for _, s := range e.row.Samples {
			if !v.contains(ledger.FromUnixMilli(s.At)) || v.filter.Host != "" && cmp.Or(s.Host, e.site) != v.filter.Host {
				continue
			}
			sample := Sample{
				At: ledger.FromUnixMilli(s.At), Site: e.site, Host: s.Host, Name: s.Name, Method: s.Method, Path: s.Path, Verdict: judge.Disallowed.String(), Action: s.Action.String(),
				Identity: e.row.Identity.String(), Rule: s.Rule.Text, Line: s.Rule.Line, Version: s.Rule.Version.String(),
				UserAgent: s.UserAgent, VersionFetched: string(s.FetchedVersion),
			}
			if s.Network.IsValid() {
				sample.Network = s.Network.String()
			}
			list = append(list, sample)
		}
	}
	slices.SortStableFunc(list, func(a, b Sample) int { return a.At.Compare(b.At) })
	return list
}
