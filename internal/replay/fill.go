package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// These are the maximum numbers of rows in the report.
const (
	maxReportedRules = 200
	maxReportedPaths = 200
	maxReportedHosts = 20
	maxRuleCrawlers  = 20
)

// fill sets the fields of the report from the merged counts of all workers.
func (r *Report) fill(p *replayPlan, t *tally, s *orderedResults, o *Options, logs []*logInput) {
	r.Lines, r.Malformed, r.OtherLines, r.OtherSiteLines, r.OtherTimeLines = t.lines, t.malformed, t.otherLines, t.otherSiteLines, t.otherTimeLines
	r.Browsers, r.Requests, r.Examples = t.browsers, t.requests, s.examples
	r.noUserAgents = t.noUserAgent == t.browsers
	if t.first <= t.last {
		r.First, r.Last = unixNanoPointer(t.first), unixNanoPointer(t.last)
	}
	r.Sites = append([]string{}, o.Sites...)
	r.fillVersions(p)
	r.fillCrawlers(p, t)
	r.fillRules(p, t)
	r.fillPaths(p, t)
	if p.collectSources {
		r.Sources = t.sources.listSources(p)
	}
	if p.collectPaths {
		r.Challenge = &t.challenge
	}
	r.Hosts = []HostReport{}
	for _, e := range t.hosts.Items {
		r.Hosts = append(r.Hosts, HostReport{Host: validUTF8(e.Key), Lines: e.Count})
	}
	slices.SortFunc(r.Hosts, func(a, b HostReport) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), strings.Compare(a.Host, b.Host))
	})
	r.Hosts = r.Hosts[:min(len(r.Hosts), maxReportedHosts)]
	r.fillFindings(p, t)
	r.fillNotes(p, t, o, logs)
}

func (r *Report) fillVersions(p *replayPlan) {
	for _, v := range p.versions {
		report := VersionReport{Name: v.name, RuleCount: v.robots.RuleCount()}
		if !v.isOnlyOfHost() {
			report.From = unixNanoPointer(v.from)
		}
		r.Robots = append(r.Robots, report)
	}
}

func (r *Report) fillCrawlers(p *replayPlan, t *tally) {
	classes := make(map[uaident.Class]*ClassReport)
	r.Crawlers, r.Classes = []CrawlerReport{}, []ClassReport{}
	for id, c := range t.crawlers {
		if c.requests == 0 {
			continue
		}
		key := p.crawlers.lookUpKey(int32(id))
		row := CrawlerReport{
			Token: key.name, Class: key.class.String(), Requests: c.requests, Disallowed: c.disallowed, Stale: c.stale, Exempt: c.exempt,
			Allowed: c.requests - c.disallowed - c.stale - c.exempt, RobotsFetches: c.robotsRequests, RobotsStatus: c.fetchStatus,
		}
		if c.fetchStatus > 0 && c.fetchedAt != 0 {
			row.LastRobotsFetch = unixNanoPointer(c.fetchedAt)
		}
		if c.lastRequest != 0 {
			row.LastRequest = unixNanoPointer(c.lastRequest)
		}
		row.Rate, row.Responses = p.newRateReport(&c, key.name), newResponsesReport(&c.responses)
		r.Crawlers = append(r.Crawlers, row)
		class := classes[key.class]
		if class == nil {
			class = &ClassReport{Class: row.Class}
			classes[key.class] = class
		}
		class.Crawlers++
		class.Requests += c.requests
		class.Disallowed += c.disallowed
		class.WouldBlock += c.disallowed - c.notEnforced
		class.Stale += c.stale
		class.Exempt += c.exempt
		r.Disallowed += c.disallowed
		r.Stale += c.stale
		r.Exempt += c.exempt
	}
	slices.SortFunc(r.Crawlers, func(a, b CrawlerReport) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Token, b.Token), strings.Compare(a.Class, b.Class))
	})
	for _, class := range classes {
		r.Classes = append(r.Classes, *class)
	}
	slices.SortFunc(r.Classes, func(a, b ClassReport) int {
		return cmp.Or(cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Class, b.Class))
	})
}

func (r *Report) fillRules(p *replayPlan, t *tally) {
	type place struct{ version, line int32 }
	rules := make(map[place]*RuleReport)
	for key, c := range t.rules {
		at := place{key.version, key.line}
		rule := rules[at]
		if rule == nil {
			rule = &RuleReport{Rule: validUTF8(c.rule.String()), Line: c.rule.Line, Group: validUTF8(c.group), Robots: p.versions[key.version].name}
			rules[at] = rule
		}
		rule.Group = min(rule.Group, validUTF8(c.group)) // A group may have several names.
		rule.Requests += c.count
		rule.Crawlers = append(rule.Crawlers, RuleCrawlers{Token: p.crawlers.lookUpKey(key.crawler).name, Requests: c.count})
	}
	r.Rules = []RuleReport{}
	for _, rule := range rules {
		slices.SortFunc(rule.Crawlers, func(a, b RuleCrawlers) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Token, b.Token))
		})
		rule.Crawlers = rule.Crawlers[:min(len(rule.Crawlers), maxRuleCrawlers)]
		r.Rules = append(r.Rules, *rule)
	}
	slices.SortFunc(r.Rules, func(a, b RuleReport) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Robots, b.Robots), cmp.Compare(a.Line, b.Line))
	})
	r.Rules = r.Rules[:min(len(r.Rules), maxReportedRules)]
}

func (r *Report) fillPaths(p *replayPlan, t *tally) {
	r.Paths = []PathReport{}
	for _, e := range t.paths.Items {
		r.Paths = append(r.Paths, PathReport{Path: validUTF8(e.Key.path), Token: p.crawlers.lookUpKey(e.Key.crawler).name, Requests: e.Count, CountError: e.Error})
	}
	slices.SortStableFunc(r.Paths, func(a, b PathReport) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Path, b.Path), strings.Compare(a.Token, b.Token))
	})
	r.Paths = r.Paths[:min(len(r.Paths), maxReportedPaths)]
}

func unixNanoPointer(at int64) *time.Time {
	t := fromUnixNano(at)
	return &t
}

// validUTF8 replaces invalid UTF-8 in a string from a client, because JSON cannot contain it.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
