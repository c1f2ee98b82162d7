package report

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
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
		Head: v.head(), Crawler: v.crawler(entries), Series: v.series(entries), Rules: v.rules(entries),
		Paths: v.violations(entries), Recent: v.samples(entries), Agents: v.agents(entries), Networks: v.networks(entries),
	}
	slices.Reverse(d.Recent)
	slices.SortStableFunc(d.Paths, func(a, b Violation) int { return byCount(a.Estimate, b.Estimate) })
	for _, site := range bySite(entries) {
		at := v.crawler(site)
		d.SitesSeen = append(d.SitesSeen, CrawlerSite{
			Site: site[0].site, Counts: at.Counts, RobotsFetch: at.RobotsFetch, SinceRobotsFetch: at.SinceRobotsFetch, Rate: at.Rate,
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

// rules returns the rules that disallowed a crawler's requests, most frequent first.
func (v *view) rules(entries []entry) []RuleCount {
	list := []RuleCount{}
	for _, e := range entries {
		for _, item := range e.row.Rules.Items {
			if !inWindow(v, item) {
				continue
			}
			rule := RuleCount{Site: e.site, Rule: item.Key.Text, Line: item.Key.Line, Group: item.Key.Group,
				Version: item.Key.Version.String(), Verdict: item.Key.Verdict.String(), Estimate: estimate(item)}
			same := func(r RuleCount) bool {
				return r.Site == rule.Site && r.Rule == rule.Rule && r.Group == rule.Group && r.Verdict == rule.Verdict
			}
			if i := slices.IndexFunc(list, same); i >= 0 { // from another identity
				if rule.Last.After(list[i].Last) {
					list[i].Line, list[i].Version = rule.Line, rule.Version
				}
				list[i].Estimate = list[i].Estimate.plus(rule.Estimate)
			} else {
				list = append(list, rule)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b RuleCount) int { return byCount(a.Estimate, b.Estimate) })
	return list
}

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

// agents returns the User-Agents of a crawler, the most frequent first.
func (v *view) agents(entries []entry) []UserAgent {
	list := []UserAgent{}
	for _, e := range entries {
		for _, item := range e.row.Agents.Items {
			if !inWindow(v, item) {
				continue
			}
			if i := slices.IndexFunc(list, func(a UserAgent) bool { return a.UserAgent == item.Key }); i >= 0 {
				list[i].Estimate = list[i].Estimate.plus(estimate(item))
			} else {
				list = append(list, UserAgent{item.Key, estimate(item)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b UserAgent) int { return byCount(a.Estimate, b.Estimate) })
	return list
}

// networks returns the networks of a crawler's disallowed requests, most frequent first.
func (v *view) networks(entries []entry) []NetworkCount {
	list := []NetworkCount{}
	for _, e := range entries {
		for _, item := range e.row.Networks.Items {
			if !inWindow(v, item) {
				continue
			}
			n := NetworkCount{item.Key.String(), e.row.Identity.String(), estimate(item)}
			same := func(known NetworkCount) bool { return known.Network == n.Network && known.Identity == n.Identity }
			if i := slices.IndexFunc(list, same); i >= 0 {
				list[i].Estimate = list[i].Estimate.plus(n.Estimate)
			} else {
				list = append(list, n)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b NetworkCount) int { return byCount(a.Estimate, b.Estimate) })
	return list
}

// samples returns sample disallowed requests, oldest first.
func (v *view) samples(entries []entry) []Sample {
	list := []Sample{}
	for _, e := range entries {
		for _, s := range e.row.Samples {
			if !v.holds(ledger.Time(s.At)) || v.filter.Host != "" && cmp.Or(s.Host, e.site) != v.filter.Host {
				continue
			}
			sample := Sample{
				At: ledger.Time(s.At), Site: e.site, Host: s.Host, Name: s.Name, Method: s.Method, Path: s.Path, Verdict: judge.Disallowed.String(), Action: s.Action.String(),
				Identity: e.row.Identity.String(), Rule: s.Rule.Text, Line: s.Rule.Line, Version: s.Rule.Version.String(),
				UserAgent: s.Agent, Read: s.Known.String(),
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
