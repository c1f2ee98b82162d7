package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// maxTopCrawlers is the maximum number of crawlers in the summary.
const maxTopCrawlers = 10

// Summary returns the data of the dashboard's first page for the requests that match the filter.
func (s *Source) Summary(f Filter) Summary {
	v := s.applyFilter(f)
	all := v.newCrawlers()
	sum := Summary{
		ViewHeader: v.header(), RequestCounts: v.sumCounts(v.entries), Previous: v.sumPreviousCounts(v.entries), Crawlers: len(all), SitesNow: []SiteSummary{}, Top: all[:min(len(all), maxTopCrawlers)],
		SearchBlocked: v.listBlockedSearchEngines(), Series: v.newTimeSeries(v.entries), Changes: v.siteChanges(v.siteNames()), History: s.History,
	}
	for _, site := range v.Ledger.Sites {
		if f.Site == "" || f.Site == site.Name {
			sum.BrowsersOnDisallowed += site.SumVisits(ledger.VisitsToDisallowed, v.responseResolution(), v.from, v.end.Add(-1))
		}
	}
	sum.Compliance = sum.RequestCounts.Compliance()
	for _, name := range v.siteNames() {
		var entries []siteRow
		for _, e := range v.entries {
			if e.site == name {
				entries = append(entries, e)
			}
		}
		live := s.SiteStates[name]
		sum.SitesNow = append(sum.SitesNow, SiteSummary{Site: name, Mode: live.Mode, RequestCounts: v.sumCounts(entries), Previous: v.sumPreviousCounts(entries), Hosts: v.hostCounts(name), Robots: s.robotsHealth(live)})
	}
	return sum
}

// listBlockedSearchEngines returns the search engines that rules for other crawlers blocked in the
// window and would still block now.
func (v *filteredSource) listBlockedSearchEngines() []BlockedSearchEngine {
	list := []BlockedSearchEngine{}
	for _, e := range v.entries {
		class, _ := uaident.ParseClass(e.row.Class)
		if !judge.IsSearchEngine(class, e.row.Identity) {
			continue
		}
		blocked := BlockedSearchEngine{Site: e.site, Token: e.row.Token, Identity: e.row.Identity.String(), Blocked: min(e.counts[ledger.CountViolationBlocked], v.countDisallowedByOtherGroups(e))}
		for _, item := range e.row.Paths.Items {
			if at := ledger.FromUnixMilli(item.Last); item.Key.Blocked && at.After(blocked.Last) && occurredInWindow(v, item) && !v.NamesCrawler(item.Key.Group, e.row.Token) {
				blocked.Last, blocked.Host, blocked.Path, blocked.Rule, blocked.Line = at, item.Key.Host, item.Key.Path, item.Key.Text, item.Key.Line
			}
		}
		if blocked.Blocked > 0 && v.isStillBlocked(e, blocked.Last) {
			list = append(list, blocked)
		}
	}
	slices.SortStableFunc(list, func(a, b BlockedSearchEngine) int { return cmp.Compare(b.Blocked, a.Blocked) })
	return list
}

// isStillBlocked reports whether the site still blocks the crawler. last is the time of the last
// block.
func (v *filteredSource) isStillBlocked(e siteRow, last time.Time) bool {
	live := v.SiteStates[e.site]
	good := live.currentVersion()
	switch {
	case live.Mode == judge.ModeWord(false): // The site is now in the mode monitor.
	case good != nil && good.FirstFetched.After(last): // The site now has another robots.txt.
	case e.row.LastAction != judge.Blocked: // The option only_log now exempts the crawler.
	default:
		return true
	}
	return false
}

// countDisallowedByOtherGroups returns the maximum number of a crawler's requests that rules for
// other crawlers disallowed.
func (v *filteredSource) countDisallowedByOtherGroups(e siteRow) (n uint64) {
	for _, item := range e.row.Rules.Items {
		if item.Key.Verdict == judge.Disallowed && occurredInWindow(v, item) && !v.NamesCrawler(item.Key.Group, e.row.Token) {
			n += item.Count
		}
	}
	return n
}

// NamesCrawler reports whether a group of a robots.txt names a crawler, by the rules of
// [judge.NamesCrawler].
func (s *Source) NamesCrawler(group, token string) bool {
	if known := s.lookupCrawler(token); known != nil {
		return judge.NamesCrawler(group, known)
	}
	return policy.NameMatches(group, token)
}

// robotsHealth returns the state of a site's robots.txt.
func (s *Source) robotsHealth(l SiteState) RobotsHealth {
	h := RobotsHealth{State: Unread, Authority: l.Authority, Source: l.Source, HeldUntil: l.HeldUntil, TakesEffect: l.TakesEffect}
	known := l.State
	if known == nil {
		return h
	}
	h.NextFetch, h.FailureCount = known.NextFetch, known.FailureCount
	if known.FailureCount > 0 {
		h.State, h.FailingSince = Unreachable, known.FailingSince
	}
	h.Error = DescribeFetchProblem(known)
	good := known.Current
	if good == nil {
		return h
	}
	switch {
	case known.FailureCount > 0:
		h.State = LastGood
	case (policy.FetchResult{Status: good.Status}).AccessResult() == policy.Successful:
		h.State = OK
	default:
		h.State = Missing
	}
	if l.Enforces {
		h.ProtectionProblem = FindProtectionProblem(known, l.Source)
	}
	if h.ProtectionProblem != nil && known.FailureCount == 0 {
		h.State = Unprotected
	}
	h.Status, h.Version, h.RuleCount = good.Status, formatVersion(good.Hash), good.Robots.RuleCount()
	h.FirstFetched, h.LastFetched = good.FirstFetched, good.LastFetched
	found := s.lintReport(l)
	h.Findings.Errors, h.Findings.Warnings = found.SeverityCount(policy.Error), found.SeverityCount(policy.Warning)
	h.Findings.Infos = found.TotalCount() - h.Findings.Errors - h.Findings.Warnings
	return h
}

// Violations returns at most limit paths that crawlers requested although they were disallowed or
// stale, newest first. Violations skips the first after paths.
func (s *Source) Violations(f Filter, after, limit int) Violations {
	v := s.applyFilter(f)
	all := v.listViolations(v.entries)
	list := Violations{ViewHeader: v.header(), Total: len(all)}
	list.Violations, list.Next = paginate(all, after, limit)
	return list
}

// listViolations returns the disallowed and stale paths of the rows, newest first.
func (v *filteredSource) listViolations(entries []siteRow) []Violation {
	list := []Violation{}
	for _, e := range entries {
		places := make(map[ledger.PathKey]int) // The key is a path of the ledger without its field Blocked.
		for _, item := range e.row.Paths.Items {
			if !occurredInWindow(v, item) || v.filter.Host != "" && cmp.Or(item.Key.Host, e.site) != v.filter.Host {
				continue
			}
			violation := newViolation(e, item)
			item.Key.Blocked = false
			if i, ok := places[item.Key]; ok {
				list[i].Estimate, list[i].BlockedAtMost = list[i].Estimate.plus(violation.Estimate), list[i].BlockedAtMost+violation.BlockedAtMost
				continue
			}
			places[item.Key] = len(list)
			list = append(list, violation)
		}
	}
	slices.SortStableFunc(list, func(a, b Violation) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Token, b.Token),
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	return list
}

// newViolation converts a path of the ledger.
func newViolation(e siteRow, item spacesaving.Item[ledger.PathKey]) Violation {
	violation := Violation{
		Site: e.site, Token: e.row.Token, Class: e.row.Class, Identity: e.row.Identity.String(), Host: item.Key.Host, Name: item.Key.Name, Path: item.Key.Path,
		Rule: item.Key.Text, Line: item.Key.Line, Group: item.Key.Group, Version: item.Key.Version.String(),
		Verdict: item.Key.Verdict.String(), Estimate: newEstimate(item),
	}
	if item.Key.Blocked {
		violation.BlockedAtMost = item.Count
	}
	return violation
}

// maxImpactRules is the maximum number of rules of each crawler in an EnforceImpact.
const maxImpactRules = 5

// Impact returns which requests matching the filter the mode enforce blocks or would have blocked.
func (s *Source) Impact(f Filter) EnforceImpact {
	v := s.applyFilter(f)
	impact := EnforceImpact{ViewHeader: v.header(), RequestCounts: v.sumCounts(v.entries), Previous: v.sumPreviousCounts(v.entries), ByClass: []ClassImpact{}, Modes: []SiteMode{}}
	impact.BlockedByEnforce = impact.Blocked + impact.WouldBlock
	for _, name := range v.siteNames() {
		impact.Modes = append(impact.Modes, SiteMode{name, s.SiteStates[name].Mode})
	}
	classes := make(map[string]*ClassImpact)
	for id, entries := range v.rowsByCrawler() {
		row := entries[0].row
		c := CrawlerImpact{ID: id, Token: row.Token, Names: firstItems(v.countClientNames(entries), maxTopNames), Identities: countIdentities(entries), RequestCounts: v.sumCounts(entries), Rules: v.ruleCounts(entries)}
		c.BlockedByEnforce = c.Blocked + c.WouldBlock
		c.Rules = slices.DeleteFunc(c.Rules, func(r RuleCount) bool { return r.Verdict != judge.Disallowed.String() })
		c.Rules = c.Rules[:min(len(c.Rules), maxImpactRules)]
		if known := v.lookupCrawler(row.Token); known != nil {
			c.Operator = known.Operator
		}
		class := classes[row.Class]
		if class == nil {
			class = &ClassImpact{Class: row.Class}
			classes[row.Class] = class
		}
		class.Crawlers = append(class.Crawlers, c)
		class.RequestCounts = class.RequestCounts.plus(c.RequestCounts)
		class.BlockedByEnforce += c.BlockedByEnforce
	}
	for _, class := range classes {
		slices.SortFunc(class.Crawlers, func(a, b CrawlerImpact) int {
			return cmp.Or(cmp.Compare(b.BlockedByEnforce, a.BlockedByEnforce), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.ID, b.ID))
		})
		impact.ByClass = append(impact.ByClass, *class)
	}
	search := func(c ClassImpact) int {
		if c.Class == uaident.Search.String() {
			return 0
		}
		return 1
	}
	slices.SortFunc(impact.ByClass, func(a, b ClassImpact) int {
		return cmp.Or(cmp.Compare(search(a), search(b)), cmp.Compare(b.BlockedByEnforce, a.BlockedByEnforce),
			cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Class, b.Class))
	})
	return impact
}

// plus returns the sum of the counts.
func (c RequestCounts) plus(other RequestCounts) RequestCounts {
	return RequestCounts{
		Requests: c.Requests + other.Requests, Allowed: c.Allowed + other.Allowed, Disallowed: c.Disallowed + other.Disallowed,
		Stale: c.Stale + other.Stale, Exempt: c.Exempt + other.Exempt, Unknown: c.Unknown + other.Unknown,
		Blocked: c.Blocked + other.Blocked, WouldBlock: c.WouldBlock + other.WouldBlock, Slowed: c.Slowed + other.Slowed,
		ViolationsBlocked: c.ViolationsBlocked + other.ViolationsBlocked, ViolationsOnlyLogged: c.ViolationsOnlyLogged + other.ViolationsOnlyLogged,
	}
}
