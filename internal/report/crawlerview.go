package report

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Crawlers returns at most limit crawlers with requests in the window, in the order of [Crawlers].
// Crawlers skips the first after crawlers.
func (s *Source) Crawlers(f Filter, after, limit int) Crawlers {
	v := s.applyFilter(f)
	all := v.newCrawlers()
	list := Crawlers{ViewHeader: v.header(), Total: len(all)}
	list.Crawlers, list.Next = paginate(all, after, limit)
	list.AgainstPreference = sumAgainstPreferenceByClass(all)
	return list
}

// newCrawlers returns all crawlers with a request in the window, in the order of [Crawlers].
func (v *filteredSource) newCrawlers() []Crawler {
	all := []Crawler{}
	for _, entries := range v.rowsByCrawler() {
		c := v.newCrawler(entries)
		c.Names = firstItems(c.Names, maxTopNames)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Crawler) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// newCrawler returns the data about one crawler. entries are its rows in the ledger, one for each
// site and identity, and at least one.
func (v *filteredSource) newCrawler(entries []siteRow) Crawler {
	row := entries[0].row
	for _, e := range entries {
		if e.row.LastSeen > row.LastSeen {
			row = e.row
		}
	}
	c := Crawler{
		ID: crawlerID(row), Token: row.Token, Class: row.Class, RequestCounts: v.sumCounts(entries), Previous: v.sumPreviousCounts(entries), TopPath: v.mostFrequentPath(entries), Action: judge.NoAction.String(),
		FirstSeen: ledger.FromUnixMilli(row.FirstSeen), LastSeen: ledger.FromUnixMilli(row.LastSeen), Sparkline: v.newTimeSeries(entries).sparkline(),
	}
	c.WildcardApplies = v.newGroupQuery(row.Token, row.Class).WildcardApplies
	if known := v.lookupCrawler(row.Token); known != nil {
		c.Operator, c.UserTriggered = known.Operator, known.UserTriggered
		if known.Provenance == uaident.Documented {
			c.Documentation = known.Source
		}
	}
	c.Compliance = c.RequestCounts.Compliance()
	c.AgainstPreference = countAgainstPreference(row.Class, entries)
	c.Identities = countIdentities(entries)
	c.Names, c.SpoofedRequests = v.countClientNames(entries), v.countSpoofedRequests(row.Token)
	acted := int64(0)
	for _, e := range entries {
		if first := ledger.FromUnixMilli(e.row.FirstSeen); first.Before(c.FirstSeen) {
			c.FirstSeen = first
		}
		if first := ledger.FromUnixMilli(e.row.FirstViolation); !first.IsZero() && (c.ViolatingSince.IsZero() || first.Before(c.ViolatingSince)) {
			c.ViolatingSince = first
		}
		if e.row.LastAction != judge.NoAction && e.row.LastSeen >= acted {
			acted, c.Action = e.row.LastSeen, e.row.LastAction.String()
		}
		c.RequestsSinceFetch += e.row.RequestsSinceFetch
		if fetch := v.lastRobotsFetch(e); fetch != nil && (c.RobotsFetch == nil || fetch.At.After(c.RobotsFetch.At)) {
			c.RobotsFetch = fetch
		}
	}
	for i, site := range groupBySite(entries) {
		rate := v.requestRate(site)
		if i == 0 || rate.Exceeds && !c.Rate.Exceeds || rate.Exceeds == c.Rate.Exceeds && rate.PerMinute > c.Rate.PerMinute {
			c.Rate = rate
		}
	}
	return c
}

// mostFrequentPath returns the disallowed path that a crawler requested most often, or nil.
func (v *filteredSource) mostFrequentPath(entries []siteRow) *Violation {
	var at siteRow
	var top *spacesaving.Item[ledger.PathKey]
	for _, e := range entries {
		for i := range e.row.Paths.Items {
			item := &e.row.Paths.Items[i]
			if item.Key.Verdict == judge.Disallowed && occurredInWindow(v, *item) &&
				(top == nil || cmp.Or(cmp.Compare(item.Count, top.Count), cmp.Compare(item.Last, top.Last)) > 0) {
				at, top = e, item
			}
		}
	}
	if top == nil {
		return nil
	}
	violation := newViolation(at, *top)
	return &violation
}

func countIdentities(entries []siteRow) (i Identities) {
	for _, e := range entries {
		n := e.counts.TotalRequests()
		switch e.row.Identity {
		case verify.Verified:
			i.Verified += n
		case verify.Claimed:
			i.Claimed += n
		case verify.Unknown:
			i.Unknown += n
		case verify.Spoofed:
			i.Spoofed += n
		}
	}
	return i
}

// groupBySite groups rows by site. entries must be sorted by site.
func groupBySite(entries []siteRow) (sites [][]siteRow) {
	for _, e := range entries {
		if n := len(sites); n > 0 && sites[n-1][0].site == e.site {
			sites[n-1] = append(sites[n-1], e)
		} else {
			sites = append(sites, []siteRow{e})
		}
	}
	return sites
}

// lastRobotsFetch returns a crawler's last request for the robots.txt of one site, or nil.
func (v *filteredSource) lastRobotsFetch(e siteRow) *RobotsFetch {
	fetch := e.row.RobotsFetch
	if fetch == nil {
		return nil
	}
	r := &RobotsFetch{Site: e.site, At: ledger.FromUnixMilli(fetch.At), Status: fetch.Status, Version: formatVersion(fetch.Version)}
	if good := v.SiteStates[e.site].currentVersion(); good != nil {
		r.Current = fetch.Version == good.Hash || fetch.Version == (ledger.Version{}) && !r.At.Before(good.FirstFetched)
	}
	return r
}
