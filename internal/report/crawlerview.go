package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Crawlers returns a page of crawlers: at most limit after the first so many.
func (s *Source) Crawlers(f Filter, after, limit int) Crawlers {
	v := s.view(f)
	all := v.allCrawlers()
	list := Crawlers{Head: v.head(), Total: len(all)}
	list.Crawlers, list.Next = page(all, after, limit)
	return list
}

// allCrawlers returns the crawlers with a request in the window.
func (v *view) allCrawlers() []Crawler {
	delays := v.delays()
	all := []Crawler{}
	for _, entries := range v.crawlers() {
		all = append(all, v.crawler(entries, delays))
	}
	slices.SortFunc(all, func(a, b Crawler) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// crawler returns what is known of one crawler, of which there is one entry at
// least.
func (v *view) crawler(entries []entry, delays delays) Crawler {
	row := entries[0].row
	for _, e := range entries {
		if e.row.LastSeen > row.LastSeen {
			row = e.row
		}
	}
	c := Crawler{
		ID: idOf(row), Token: row.Token, Class: row.Class, Counts: v.sum(entries), Action: ledger.None.String(),
		FirstSeen: ledger.Time(row.FirstSeen), LastSeen: ledger.Time(row.LastSeen), Sparkline: v.series(entries).sparkline(),
	}
	_, c.Wildcard = v.chainOf(row.Token, row.Class)
	if known := v.lookup(row.Token); known != nil {
		c.Operator, c.UserTriggered = known.Operator, known.UserTriggered
		if known.Provenance == uaident.Documented {
			c.Documentation = known.Source
		}
	}
	c.Compliance = c.Counts.Compliance()
	c.Identities = identitiesOf(entries)
	acted := int64(0)
	for _, e := range entries {
		if first := ledger.Time(e.row.FirstSeen); first.Before(c.FirstSeen) {
			c.FirstSeen = first
		}
		if e.row.LastAction != ledger.None && e.row.LastSeen >= acted {
			acted, c.Action = e.row.LastSeen, e.row.LastAction.String()
		}
		c.SinceRead += e.row.SinceRead
		if read := v.reading(e); read != nil && (c.Read == nil || read.At.After(c.Read.At)) {
			c.Read = read
		}
	}
	for _, site := range bySite(entries) {
		if rate := v.rate(site, delays); rate.PerMinute > c.Rate.PerMinute || rate.Exceeds && !c.Rate.Exceeds || c.Rate.CrawlDelay == 0 {
			c.Rate = rate
		}
	}
	return c
}

func identitiesOf(entries []entry) (i Identities) {
	for _, e := range entries {
		n := e.counts.Requests()
		switch e.row.Identity {
		case ledger.Verified:
			i.Verified += n
		case ledger.Claimed:
			i.Claimed += n
		case ledger.Unconfirmed:
			i.Unknown += n
		case ledger.Spoofed:
			i.Spoofed += n
		}
	}
	return i
}

// bySite returns the entries of each site, by name.
func bySite(entries []entry) (sites [][]entry) {
	for _, e := range entries {
		if n := len(sites); n > 0 && sites[n-1][0].site == e.site {
			sites[n-1] = append(sites[n-1], e)
		} else {
			sites = append(sites, []entry{e})
		}
	}
	return sites
}

// reading returns the last reading of a crawler at one site.
func (v *view) reading(e entry) *Reading {
	read := e.row.Read
	if read == nil {
		return nil
	}
	r := &Reading{Site: e.site, At: ledger.Time(read.At), Status: read.Status, Version: read.Version.String()}
	if good := v.Live[e.site].good(); good != nil {
		r.Current = read.Version == good.Hash || r.Version == "" && !r.At.Before(good.FirstRead)
	}
	return r
}

// rateMinutes is over how many minutes, the current one included, a rate is
// taken.
const rateMinutes = 5

// rate returns how fast a crawler is at one site.
func (v *view) rate(entries []entry, delays delays) Rate {
	from := v.now.Truncate(time.Minute).Add(-(rateMinutes - 1) * time.Minute)
	var sum ledger.Counts
	for _, e := range entries {
		sum.Add(e.row.Series[ledger.Minutes].Sum(ledger.Minutes, from, v.now))
	}
	rate := Rate{PerMinute: float64(sum.Requests()) / v.now.Sub(from).Minutes()}
	chain, wildcard := v.chainOf(entries[0].row.Token, entries[0].row.Class)
	rate.CrawlDelay = delays.of(entries[0].site, chain, wildcard)
	rate.Exceeds = rate.CrawlDelay > 0 && sum.Requests() > 1 && rate.PerMinute > 60/rate.CrawlDelay
	return rate
}

// delays are the Crawl-delay lines of each site.
type delays map[string]siteDelays

type siteDelays struct {
	robots *policy.Robots
	lines  []delay
}

type delay struct {
	agents  []policy.Agent
	seconds float64
}

// delays reads the Crawl-delay lines of all sites.
func (v *view) delays() delays {
	all := make(delays)
	for name, live := range v.Live {
		good := live.good()
		if good == nil {
			continue
		}
		site := siteDelays{robots: good.Robots}
		var groups []policy.Group
		for _, record := range good.Robots.Records() {
			seconds, err := strconv.ParseFloat(record.Value, 64)
			if !strings.EqualFold(record.Key, "crawl-delay") || record.Group < 0 || err != nil || !(seconds > 0) {
				continue
			}
			if groups == nil {
				groups = good.Robots.Groups()
			}
			site.lines = append(site.lines, delay{groups[record.Group].Agents, seconds})
		}
		if site.lines != nil {
			all[name] = site
		}
	}
	return all
}

// of returns what a site asks of a crawler in the group that it obeys, in
// seconds between two requests; 0 if nothing.
func (d delays) of(site string, chain []string, wildcard bool) float64 {
	known, ok := d[site]
	if !ok {
		return 0
	}
	for _, name := range chain {
		if known.robots.Named(name) {
			return known.delay(func(group string) bool { return policy.NameMatches(group, name) })
		}
	}
	if !wildcard {
		return 0
	}
	return known.delay(func(group string) bool { return group == "*" })
}

// delay returns that of the first group with such a name that has one.
func (s siteDelays) delay(named func(group string) bool) float64 {
	for _, line := range s.lines {
		if slices.ContainsFunc(line.agents, func(a policy.Agent) bool { return named(a.Name) }) {
			return line.seconds
		}
	}
	return 0
}

// Crawler returns all about the crawler with this id, false if there is none in
// the window.
func (s *Source) Crawler(f Filter, id string) (CrawlerDetail, bool) {
	v := s.view(f)
	entries := v.crawlers()[id]
	if len(entries) == 0 {
		return CrawlerDetail{}, false
	}
	delays := v.delays()
	d := CrawlerDetail{
		Head: v.head(), Crawler: v.crawler(entries, delays), Series: v.series(entries), Rules: v.rules(entries),
		Paths: v.violations(entries), Recent: v.samples(entries), Agents: v.agents(entries), Networks: v.networks(entries),
	}
	slices.Reverse(d.Recent)
	slices.SortStableFunc(d.Paths, func(a, b Violation) int { return byCount(a.Estimate, b.Estimate) })
	for _, site := range bySite(entries) {
		at := v.crawler(site, delays)
		d.SitesSeen = append(d.SitesSeen, CrawlerSite{
			Site: site[0].site, Counts: at.Counts, Read: at.Read, SinceRead: at.SinceRead, Rate: at.Rate,
			FirstSeen: at.FirstSeen, LastSeen: at.LastSeen,
		})
	}
	return d, true
}

// rules returns the rules that a crawler broke or did not know, the most
// frequent first.
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
				return r.Site == rule.Site && r.Line == rule.Line && r.Version == rule.Version && r.Verdict == rule.Verdict
			}
			if i := slices.IndexFunc(list, same); i >= 0 { // by another identity
				list[i].Estimate = list[i].Estimate.plus(rule.Estimate)
			} else {
				list = append(list, rule)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b RuleCount) int { return byCount(a.Estimate, b.Estimate) })
	return list
}

// plus adds up two estimates of the same thing.
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

// networks returns the networks of a crawler's requests outside robots.txt, the
// most frequent first.
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

// samples returns requests outside robots.txt, the earliest first.
func (v *view) samples(entries []entry) []Sample {
	list := []Sample{}
	for _, e := range entries {
		for _, s := range e.row.Samples {
			if ledger.Time(s.At).Before(v.from) {
				continue
			}
			sample := Sample{
				At: ledger.Time(s.At), Site: e.site, Method: s.Method, Path: s.Path, Verdict: ledger.Disallowed.String(), Action: s.Action.String(),
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
