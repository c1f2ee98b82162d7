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

// Crawler returns the details of the crawler with the given id. ok is false if the window has
// none.
func (s *Source) Crawler(f Filter, id string) (CrawlerDetail, bool) {
	v := s.view(f)
	entries := v.crawlers()[id]
	if len(entries) == 0 {
		return CrawlerDetail{}, false
	}
	d := CrawlerDetail{
		ViewHeader: v.head(), Crawler: v.crawler(entries), Series: v.newSeries(entries), Rules: v.rules(entries),
		Paths: v.violations(entries), RecentSamples: v.samples(entries), Agents: v.agents(entries), Networks: v.networks(entries),
	}
	slices.Reverse(d.RecentSamples)
	slices.SortStableFunc(d.Paths, func(a, b Violation) int { return compareCounts(a.Estimate, b.Estimate) })
	for _, site := range bySite(entries) {
		at := v.crawler(site)
		d.SitesSeen = append(d.SitesSeen, CrawlerSite{
			Site: site[0].site, Counts: at.Counts, RobotsFetch: at.RobotsFetch, RequestsSinceFetch: at.RequestsSinceFetch, Rate: at.Rate,
			FirstSeen: at.FirstSeen, LastSeen: at.LastSeen,
		})
	}
	var sites []string
	for _, site := range d.SitesSeen {
		sites = append(sites, site.Site)
	}
	d.Marks = v.marks(sites)
	return d, true
}

// rules returns the rules disallowing a crawler's requests, most frequent first.
func (v *view) rules(entries []siteRow) []RuleCount {
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

// agents returns the User-Agents of a crawler, the most frequent first.
func (v *view) agents(entries []siteRow) []UserAgent {
	list := []UserAgent{}
	for _, item := range itemsInWindow(v, entries, func(w *ledger.Row) []spacesaving.Item[string] { return w.Agents.Items }) {
		list = append(list, UserAgent{item.Key, newEstimate(item)})
	}
	return mergeEstimates(list, func(a UserAgent) string { return a.UserAgent }, nil)
}

// networks returns the networks of a crawler's disallowed requests, most frequent first.
func (v *view) networks(entries []siteRow) []NetworkCount {
	list := []NetworkCount{}
	for e, item := range itemsInWindow(v, entries, func(w *ledger.Row) []spacesaving.Item[netip.Prefix] { return w.Networks.Items }) {
		list = append(list, NetworkCount{item.Key.String(), e.row.Identity.String(), newEstimate(item)})
	}
	return mergeEstimates(list, func(n NetworkCount) [2]string { return [...]string{n.Network, n.Identity} }, nil)
}

// itemsInWindow returns the items of a sketch of each entry, if seen in the window.
func itemsInWindow[K comparable](v *view, entries []siteRow, items func(*ledger.Row) []spacesaving.Item[K]) iter.Seq2[siteRow, spacesaving.Item[K]] {
	return func(yield func(siteRow, spacesaving.Item[K]) bool) {
		for _, e := range entries {
			for _, item := range items(e.row) {
				if seenInWindow(v, item) && !yield(e, item) {
					return
				}
			}
		}
	}
}

// mergeEstimates returns one row for each key with the sum of the estimates, most frequent first. merge,
// if not nil, merges the other fields, before the estimate.
func mergeEstimates[T any, K comparable, P interface {
	*T
	sum() *Estimate
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
		*to.sum() = to.sum().plus(*P(&row).sum())
	}
	slices.SortStableFunc(list, func(a, b T) int { return compareCounts(*P(&a).sum(), *P(&b).sum()) })
	return list
}

// sum returns e. Rows embed an Estimate.
func (e *Estimate) sum() *Estimate { return e }

// plus returns the sum of two estimates.
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

// samples returns sample disallowed requests, oldest first.
func (v *view) samples(entries []siteRow) []Sample {
	list := []Sample{}
	for _, e := range entries {
		for _, s := range e.row.Samples {
			if !v.contains(ledger.FromUnixMilli(s.At)) || v.filter.Host != "" && cmp.Or(s.Host, e.site) != v.filter.Host {
				continue
			}
			sample := Sample{
				At: ledger.FromUnixMilli(s.At), Site: e.site, Host: s.Host, Name: s.Name, Method: s.Method, Path: s.Path, Verdict: judge.Disallowed.String(), Action: s.Action.String(),
				Identity: e.row.Identity.String(), Rule: s.Rule.Text, Line: s.Rule.Line, Version: s.Rule.Version.String(),
				UserAgent: s.Agent, VersionFetched: s.VersionFetched.String(),
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
