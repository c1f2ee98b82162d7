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

// maxTop is the maximum number of crawlers in the summary.
const maxTop = 10

// Summary returns the view "Now".
func (s *Source) Summary(f Filter) Summary {
	v := s.view(f)
	all := v.allCrawlers()
	sum := Summary{
		ViewHeader: v.head(), Counts: v.sumCounts(v.entries), Previous: v.sumBefore(v.entries), Crawlers: len(all), SitesNow: []Site{}, Top: all[:min(len(all), maxTop)],
		SearchBlocked: v.searchBlocked(), Series: v.newSeries(v.entries), Marks: v.marks(v.sites()), History: s.History,
	}
	for _, site := range v.Ledger.Sites {
		if f.Site == "" || f.Site == site.Name {
			sum.BrowsersOnDisallowed += site.VisitsBetween(ledger.OnDisallowed, v.answerResolution(), v.from, v.end.Add(-1))
		}
	}
	sum.Compliance = sum.Counts.Compliance()
	for _, name := range v.sites() {
		var entries []siteRow
		for _, e := range v.entries {
			if e.site == name {
				entries = append(entries, e)
			}
		}
		live := s.SiteStates[name]
		sum.SitesNow = append(sum.SitesNow, Site{Site: name, Mode: live.Mode, Counts: v.sumCounts(entries), Previous: v.sumBefore(entries), Hosts: v.hosts(name), Robots: s.health(live)})
	}
	return sum
}

// searchBlocked returns the search engines blocked in the window by rules for other crawlers.
func (v *view) searchBlocked() []SearchBlocked {
	list := []SearchBlocked{}
	for _, e := range v.entries {
		class, _ := uaident.ParseClass(e.row.Class)
		if !judge.IsSearchEngine(class, e.row.Identity) {
			continue
		}
		blocked := SearchBlocked{Site: e.site, Token: e.row.Token, Identity: e.row.Identity.String(), Blocked: min(e.counts[ledger.CountViolationBlocked], v.disallowedByOtherGroups(e))}
		for _, item := range e.row.Paths.Items {
			if at := ledger.FromUnixMilli(item.Last); item.Key.Blocked && at.After(blocked.Last) && seenInWindow(v, item) && !v.namesCrawler(item.Key.Group, e.row.Token) {
				blocked.Last, blocked.Host, blocked.Path, blocked.Rule, blocked.Line = at, item.Key.Host, item.Key.Path, item.Key.Text, item.Key.Line
			}
		}
		if blocked.Blocked > 0 && v.isStillBlocked(e, blocked.Last) {
			list = append(list, blocked)
		}
	}
	slices.SortStableFunc(list, func(a, b SearchBlocked) int { return cmp.Compare(b.Blocked, a.Blocked) })
	return list
}

// isStillBlocked reports whether a crawler would still be blocked. last is the time of its
// last block.
func (v *view) isStillBlocked(e siteRow, last time.Time) bool {
	live := v.SiteStates[e.site]
	good := live.current()
	switch {
	case live.Mode == judge.ModeWord(false): // now in monitor
	case good != nil && good.FirstFetched.After(last): // another robots.txt now
	case e.row.LastAction != judge.Blocked: // exempted by only_log now
	default:
		return true
	}
	return false
}

// disallowedByOtherGroups returns an upper bound of the requests disallowed by rules for other crawlers.
func (v *view) disallowedByOtherGroups(e siteRow) (n uint64) {
	for _, item := range e.row.Rules.Items {
		if item.Key.Verdict == judge.Disallowed && seenInWindow(v, item) && !v.namesCrawler(item.Key.Group, e.row.Token) {
			n += item.Count
		}
	}
	return n
}

// namesCrawler reports whether a group names a crawler. See [judge.NamesCrawler].
func (v *view) namesCrawler(group, token string) bool {
	if known := v.lookupCrawler(token); known != nil {
		return judge.NamesCrawler(group, known)
	}
	return policy.NameMatches(group, token)
}

// health returns the state of a site's robots.txt.
func (s *Source) health(l SiteState) Health {
	h := Health{State: Unread, Authority: l.Authority, Source: l.Source, HeldUntil: l.HeldUntil, TakesEffect: l.TakesEffect}
	known := l.State
	if known == nil {
		return h
	}
	h.NextFetch, h.FailureCount = known.NextFetch, known.FailureCount
	if known.FailureCount > 0 {
		h.State, h.FailingSince = Unreachable, known.FailingSince
	}
	h.Error = FetchProblem(known)
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
		h.NotProtecting = FindNotProtecting(known, l.Source)
	}
	if h.NotProtecting != nil && known.FailureCount == 0 {
		h.State = Unprotected
	}
	h.Status, h.Version, h.RuleCount = good.Status, versionOf(good.Hash), good.Robots.RuleCount()
	h.FirstFetched, h.LastFetched = good.FirstFetched, good.LastFetched
	found := s.findings(l)
	h.Findings.Errors, h.Findings.Warnings = found.SeverityCount(policy.Error), found.SeverityCount(policy.Warning)
	h.Findings.Infos = found.TotalCount() - h.Findings.Errors - h.Findings.Warnings
	return h
}

// Violations returns a page of at most limit violations. after is the number to skip.
func (s *Source) Violations(f Filter, after, limit int) Violations {
	v := s.view(f)
	all := v.violations(v.entries)
	list := Violations{ViewHeader: v.head(), Total: len(all)}
	list.Violations, list.Next = pageOf(all, after, limit)
	return list
}

// violations returns the disallowed and stale paths, newest first.
func (v *view) violations(entries []siteRow) []Violation {
	list := []Violation{}
	for _, e := range entries {
		places := make(map[ledger.PathKey]int) // by everything except Blocked
		for _, item := range e.row.Paths.Items {
			if !seenInWindow(v, item) || v.filter.Host != "" && cmp.Or(item.Key.Host, e.site) != v.filter.Host {
				continue
			}
			violation := violationOf(e, item)
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

// violationOf converts a path of the ledger.
func violationOf(e siteRow, item spacesaving.Item[ledger.PathKey]) Violation {
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

// maxImpactRules is the maximum number of rules of each crawler.
const maxImpactRules = 5

// Impact returns the effect of enforce.
func (s *Source) Impact(f Filter) Impact {
	v := s.view(f)
	impact := Impact{ViewHeader: v.head(), Counts: v.sumCounts(v.entries), Previous: v.sumBefore(v.entries), ByClass: []ImpactClass{}, Modes: []SiteMode{}}
	impact.BlockedByEnforce = impact.Blocked + impact.WouldBlock
	for _, name := range v.sites() {
		impact.Modes = append(impact.Modes, SiteMode{name, s.SiteStates[name].Mode})
	}
	classes := make(map[string]*ImpactClass)
	for id, entries := range v.crawlers() {
		row := entries[0].row
		c := ImpactCrawler{ID: id, Token: row.Token, Names: firstItems(v.countClientNames(entries), maxTopNames), Identities: identitiesOf(entries), Counts: v.sumCounts(entries), Rules: v.rules(entries)}
		c.BlockedByEnforce = c.Blocked + c.WouldBlock
		c.Rules = slices.DeleteFunc(c.Rules, func(r RuleCount) bool { return r.Verdict != judge.Disallowed.String() })
		c.Rules = c.Rules[:min(len(c.Rules), maxImpactRules)]
		if known := v.lookupCrawler(row.Token); known != nil {
			c.Operator = known.Operator
		}
		class := classes[row.Class]
		if class == nil {
			class = &ImpactClass{Class: row.Class}
			classes[row.Class] = class
		}
		class.Crawlers = append(class.Crawlers, c)
		class.Counts = class.Counts.plus(c.Counts)
		class.BlockedByEnforce += c.BlockedByEnforce
	}
	for _, class := range classes {
		slices.SortFunc(class.Crawlers, func(a, b ImpactCrawler) int {
			return cmp.Or(cmp.Compare(b.BlockedByEnforce, a.BlockedByEnforce), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.ID, b.ID))
		})
		impact.ByClass = append(impact.ByClass, *class)
	}
	search := func(c ImpactClass) int {
		if c.Class == uaident.Search.String() {
			return 0
		}
		return 1
	}
	slices.SortFunc(impact.ByClass, func(a, b ImpactClass) int {
		return cmp.Or(cmp.Compare(search(a), search(b)), cmp.Compare(b.BlockedByEnforce, a.BlockedByEnforce),
			cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Class, b.Class))
	})
	return impact
}

// plus returns the sum.
func (c Counts) plus(other Counts) Counts {
	return Counts{
		Requests: c.Requests + other.Requests, Allowed: c.Allowed + other.Allowed, Disallowed: c.Disallowed + other.Disallowed,
		Stale: c.Stale + other.Stale, Exempt: c.Exempt + other.Exempt, Unknown: c.Unknown + other.Unknown,
		Blocked: c.Blocked + other.Blocked, WouldBlock: c.WouldBlock + other.WouldBlock, Slowed: c.Slowed + other.Slowed,
		ViolationsBlocked: c.ViolationsBlocked + other.ViolationsBlocked, ViolationsOnlyLogged: c.ViolationsOnlyLogged + other.ViolationsOnlyLogged,
	}
}
