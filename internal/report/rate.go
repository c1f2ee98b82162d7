package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

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
