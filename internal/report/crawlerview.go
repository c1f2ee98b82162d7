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

// Crawlers returns a page of at most limit crawlers. after is the number of crawlers to skip.
func (s *Source) Crawlers(f Filter, after, limit int) Crawlers {
	v := s.view(f)
	all := v.allCrawlers()
	list := Crawlers{ViewHeader: v.head(), Total: len(all)}
	list.Crawlers, list.Next = pageOf(all, after, limit)
	list.AgainstPreference = againstByClass(all)
	return list
}

// allCrawlers returns the crawlers with a request in the window.
func (v *view) allCrawlers() []Crawler {
	all := []Crawler{}
	for _, entries := range v.crawlers() {
		c := v.crawler(entries)
		c.Names = firstItems(c.Names, maxTopNames)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Crawler) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// crawler returns the view of a crawler. entries must not be empty.
func (v *view) crawler(entries []siteRow) Crawler {
	row := entries[0].row
	for _, e := range entries {
		if e.row.LastSeen > row.LastSeen {
			row = e.row
		}
	}
	c := Crawler{
		ID: crawlerID(row), Token: row.Token, Class: row.Class, Counts: v.sumCounts(entries), Previous: v.sumBefore(entries), TopPath: v.topPath(entries), Action: judge.NoAction.String(),
		FirstSeen: ledger.FromUnixMilli(row.FirstSeen), LastSeen: ledger.FromUnixMilli(row.LastSeen), Sparkline: v.newSeries(entries).sparkline(),
	}
	c.WildcardApplies = v.groupQueryOf(row.Token, row.Class).WildcardApplies
	if known := v.lookupCrawler(row.Token); known != nil {
		c.Operator, c.UserTriggered = known.Operator, known.UserTriggered
		if known.Provenance == uaident.Documented {
			c.Documentation = known.Source
		}
	}
	c.Compliance = c.Counts.Compliance()
	c.AgainstPreference = againstPreferences(row.Class, entries)
	c.Identities = identitiesOf(entries)
	c.Names, c.SpoofedRequests = v.countClientNames(entries), v.impostorRequests(row.Token)
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
		if fetch := v.robotsFetch(e); fetch != nil && (c.RobotsFetch == nil || fetch.At.After(c.RobotsFetch.At)) {
			c.RobotsFetch = fetch
		}
	}
	for i, site := range bySite(entries) {
		rate := v.rate(site)
		if i == 0 || rate.Exceeds && !c.Rate.Exceeds || rate.Exceeds == c.Rate.Exceeds && rate.PerMinute > c.Rate.PerMinute {
			c.Rate = rate
		}
	}
	return c
}

// topPath returns the most frequent disallowed path, or nil.
func (v *view) topPath(entries []siteRow) *Violation {
	var at siteRow
	var top *spacesaving.Item[ledger.PathKey]
	for _, e := range entries {
		for i := range e.row.Paths.Items {
			item := &e.row.Paths.Items[i]
			if item.Key.Verdict == judge.Disallowed && seenInWindow(v, *item) &&
				(top == nil || cmp.Or(cmp.Compare(item.Count, top.Count), cmp.Compare(item.Last, top.Last)) > 0) {
				at, top = e, item
			}
		}
	}
	if top == nil {
		return nil
	}
	violation := violationOf(at, *top)
	return &violation
}

func identitiesOf(entries []siteRow) (i Identities) {
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

// bySite groups entries by site. entries must be sorted by site.
func bySite(entries []siteRow) (sites [][]siteRow) {
	for _, e := range entries {
		if n := len(sites); n > 0 && sites[n-1][0].site == e.site {
			sites[n-1] = append(sites[n-1], e)
		} else {
			sites = append(sites, []siteRow{e})
		}
	}
	return sites
}

// robotsFetch returns a crawler's last robots fetch at a site, or nil.
func (v *view) robotsFetch(e siteRow) *RobotsFetch {
	fetch := e.row.RobotsFetch
	if fetch == nil {
		return nil
	}
	r := &RobotsFetch{Site: e.site, At: ledger.FromUnixMilli(fetch.At), Status: fetch.Status, Version: versionOf(fetch.Version)}
	if good := v.SiteStates[e.site].current(); good != nil {
		r.Current = fetch.Version == good.Hash || fetch.Version == (ledger.Version{}) && !r.At.Before(good.FirstFetched)
	}
	return r
}
