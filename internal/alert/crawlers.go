package alert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	// A new crawler was first seen within newCrawlerPeriod, and not in the first minCountingTime of counting.
	// It has at least minNewCrawlerRequests requests in 24 hours.
	newCrawlerPeriod      = 7 * 24 * time.Hour
	minCountingTime       = 24 * time.Hour
	minNewCrawlerRequests = 1000
	maxNewCrawlers        = 20 // maximum number of alerts, most requests first

	minMonitorTime = 7 * 24 * time.Hour // in monitor
	maxReadySites  = 50                 // sites
)

// findInLedger returns the findings about crawlers and sites in the ledger. isOpen reports whether an
// alert is open: after a reload, the mode of a site is unknown until the first request of a crawler,
// and open alerts must stay open.
func findInLedger(source *report.Source, now time.Time, isOpen func(id string) bool) []finding {
	return slices.Concat(findParity(source, now), findNewCrawlers(source, now), findReadyForEnforce(source, now, isOpen))
}

// crawlerStats is the data about a crawler at all sites.
type crawlerStats struct {
	name      string
	firstSeen time.Time
	requests  uint64 // in the last 24 hours
	isNamed   bool   // named by a robots.txt
}

// findNewCrawlers returns new crawlers with many requests.
func findNewCrawlers(source *report.Source, now time.Time) (found []finding) {
	var candidates []*crawlerStats
	for _, a := range crawlerStatsByName(source.Ledger, now) {
		isLaterArrival := a.firstSeen.Sub(ledger.Time(source.Ledger.Since)) >= minCountingTime
		if isLaterArrival && !a.isNamed && a.requests >= minNewCrawlerRequests && now.Sub(a.firstSeen) < newCrawlerPeriod {
			candidates = append(candidates, a)
		}
	}
	slices.SortFunc(candidates, func(x, y *crawlerStats) int {
		return cmp.Or(cmp.Compare(y.requests, x.requests), cmp.Compare(x.name, y.name))
	})
	for _, a := range candidates[:min(len(candidates), maxNewCrawlers)] {
		f := finding{Alert: Alert{
			ID: newID(NewCrawler, a.name), Kind: NewCrawler, Severity: Info, Crawler: a.name, Since: a.firstSeen,
			Title:  a.name + " is new here",
			Detail: fmt.Sprintf("It came %d times in 24 hours, first at %s. No robots.txt names it.", a.requests, formatTime(a.firstSeen, now)),
			Remedy: "Acknowledge if it is welcome.",
		}}
		if isToken(a.name) {
			f.Remedy, f.RemedySnippet = "Add this to robots.txt if you do not want it, else acknowledge.", "User-agent: "+a.name+"\nDisallow: /"
		}
		found = append(found, f)
	}
	return found
}

// crawlerStatsByName returns crawlers by name. It omits classes that most sites welcome, and spoofed
// clients.
func crawlerStatsByName(snapshot ledger.Snapshot, now time.Time) map[string]*crawlerStats {
	stats := make(map[string]*crawlerStats)
	add := func(name string, first int64, requests uint64, named bool) {
		a := stats[name]
		if a == nil {
			a = &crawlerStats{name: name, firstSeen: ledger.Time(first)}
			stats[name] = a
		}
		if firstSeen := ledger.Time(first); firstSeen.Before(a.firstSeen) {
			a.firstSeen = firstSeen
		}
		a.requests += requests
		a.isNamed = a.isNamed || named
	}
	for _, s := range snapshot.Sites {
		for _, row := range s.Rows {
			class, _ := uaident.ParseClass(row.Class)
			switch class {
			case uaident.Search, uaident.Preview, uaident.Feed, uaident.Monitor, uaident.Service:
				continue
			}
			switch {
			case !class.IsCrawler(), row.Token == judge.SpoofedName:
			case row.Token != ledger.Other:
				sum := row.Series[ledger.Hours].Sum(ledger.Hours, now.Add(-23*time.Hour), now)
				add(row.Token, row.FirstSeen, sum.Requests(), row.Named)
			default:
				for _, item := range row.Names.Items {
					if item.Error == 0 && now.Sub(ledger.Time(item.Last)) < minCountingTime {
						add(item.Key, item.First, perDay(item.Count, now.Sub(ledger.Time(item.First))), false)
					}
				}
			}
		}
	}
	return stats
}

// perDay returns how many of the requests in a time came in 24 hours, on average.
func perDay(requests uint64, period time.Duration) uint64 {
	return uint64(float64(requests) * min(1, float64(24*time.Hour)/float64(max(period, 1))))
}

// isToken reports whether a name is valid in a user-agent line.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// findReadyForEnforce returns sites in monitor for a week in which enforce would have blocked no
// crawler by mistake.
func findReadyForEnforce(source *report.Source, now time.Time, isOpen func(id string) bool) (found []finding) {
	if now.Sub(ledger.Time(source.Ledger.Since)) < minMonitorTime {
		return nil
	}
	for _, s := range source.Ledger.Sites {
		live, id := source.Live[s.Name], newID(ReadyForEnforce, s.Name)
		if isMonitored := live.Mode == judge.ModeOf(false) || live.Mode == "" && isOpen(id); !isMonitored || live.State == nil || live.State.Current == nil || !live.State.Current.Robots.Restricts() || len(found) == maxReadySites {
			continue
		}
		first := now
		for _, row := range s.Rows {
			if firstSeen := ledger.Time(row.FirstSeen); firstSeen.Before(first) {
				first = firstSeen
			}
		}
		impact := source.Impact(report.Filter{Site: s.Name, Window: report.Week})
		if now.Sub(first) < minMonitorTime || impact.Requests == 0 || impact.Blocked > 0 || slices.ContainsFunc(impact.ByClass, blocksByMistake) {
			continue
		}
		found = append(found, finding{Alert: Alert{
			ID: id, Kind: ReadyForEnforce, Severity: Info, Site: s.Name, Since: first.Add(minMonitorTime),
			Title: s.Name + " is ready for enforce",
			Detail: fmt.Sprintf("It was monitored for 7 days. In mode enforce, %d requests would have been blocked, but none from search engines, previews or feed readers that the robots.txt does not name.",
				impact.WouldBlock),
			Remedy:        "Replace robots_guard of this site.",
			RemedySnippet: "robots_guard enforce",
		}})
	}
	return found
}

// blocksByMistake reports whether enforce would block crawlers of a class by mistake. These are classes
// that bring visitors, unless a rule names the crawler.
func blocksByMistake(class report.ImpactClass) bool {
	switch class.Class {
	case uaident.Search.String(), uaident.Preview.String(), uaident.Feed.String():
	default:
		return false
	}
	return slices.ContainsFunc(class.Crawlers, func(c report.ImpactCrawler) bool {
		isMistake := func(r report.RuleCount) bool { return !namesCrawler(r.Group, c.Token) }
		return c.Blockable > 0 && (len(c.Rules) == 0 || slices.ContainsFunc(c.Rules, isMistake))
	})
}

// namesCrawler reports whether a group names a crawler.
func namesCrawler(group, token string) bool {
	if crawler := uaident.Default().Lookup(token); crawler != nil {
		return judge.NamesCrawler(group, crawler)
	}
	return policy.NameMatches(group, token)
}
