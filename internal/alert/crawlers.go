package alert

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	// A new crawler was first seen within newCrawlerPeriod, and not in the first minCountingTime of counting.
	// It has at least minNewCrawlerRequests requests in 24 hours.
	newCrawlerPeriod      = 7 * 24 * time.Hour
	minCountingTime       = 24 * time.Hour
	minNewCrawlerRequests = 1000
	// maxNewCrawlers is the maximum number of alerts. Crawlers with the most requests come first.
	maxNewCrawlers = 20

	// minMonitorTime is the minimum time in the mode monitor before the advice to enforce.
	minMonitorTime = 7 * 24 * time.Hour
	maxReadySites  = 50 // maxReadySites is the maximum number of sites that the advice names.
)

// ledgerAlerts returns the alerts that depend on the counts of the ledger.
func ledgerAlerts(source *report.Source, now time.Time) []Alert {
	return slices.Concat(responseAuditAlerts(source, now), newCrawlerAlerts(source, now), readyForEnforceAlerts(source, now))
}

// crawlerStats is what is known about one crawler at all sites.
type crawlerStats struct {
	name      string
	firstSeen time.Time
	requests  uint64 // requests is the number of requests in the last 24 hours.
	isNamed   bool   // isNamed is true if a robots.txt names the crawler.
}

// newCrawlerAlerts returns alerts about crawlers that first came in the last week and send many
// requests. Crawlers that share a token are reported by unregisteredCrawlerAlerts instead.
func newCrawlerAlerts(source *report.Source, now time.Time) (found []Alert) {
	candidates := slices.Collect(maps.Values(crawlerStatsByName(source.Ledger, now)))
	candidates = slices.DeleteFunc(candidates, func(a *crawlerStats) bool {
		isLaterArrival := a.firstSeen.Sub(ledger.FromUnixMilli(source.Ledger.Since)) >= minCountingTime
		return !isLaterArrival || a.isNamed || a.requests < minNewCrawlerRequests || now.Sub(a.firstSeen) >= newCrawlerPeriod
	})
	slices.SortFunc(candidates, func(x, y *crawlerStats) int {
		return cmp.Or(cmp.Compare(y.requests, x.requests), cmp.Compare(x.name, y.name))
	})
	for _, a := range candidates[:min(len(candidates), maxNewCrawlers)] {
		found = append(found, Alert{
			ID: newID(NewCrawler, a.name), Kind: NewCrawler, Severity: Info, Crawler: a.name, Since: a.firstSeen,
			Title:         a.name + " is new here",
			Detail:        fmt.Sprintf("The crawler sent %d requests in the last 24 hours. It was first seen at %s. No robots.txt names it.", a.requests, formatTime(a.firstSeen, now)),
			Remedy:        "If you do not want this crawler, add these lines to robots.txt. Otherwise acknowledge the alert.",
			RemedySnippet: disallowGroup(a.name),
		})
	}
	return found
}

// crawlerStatsByName returns the crawlers by name. crawlerStatsByName omits spoofed clients, and
// classes that most sites welcome.
func crawlerStatsByName(snapshot ledger.Snapshot, now time.Time) map[string]*crawlerStats {
	stats := make(map[string]*crawlerStats)
	for _, s := range snapshot.Sites {
		for _, row := range s.Rows {
			class, _ := uaident.ParseClass(row.Class)
			switch class {
			case uaident.Search, uaident.Preview, uaident.Feed, uaident.Monitor, uaident.Service:
				continue
			}
			if !class.IsCrawler() || row.Token == judge.SpoofedName || row.Token == ledger.Other {
				continue
			}
			firstSeen := ledger.FromUnixMilli(row.FirstSeen)
			a := stats[row.Token]
			if a == nil {
				a = &crawlerStats{name: row.Token, firstSeen: firstSeen}
				stats[row.Token] = a
			}
			if firstSeen.Before(a.firstSeen) {
				a.firstSeen = firstSeen
			}
			sum := row.Series[ledger.Hours].Sum(ledger.Hours, now.Add(-23*time.Hour), now)
			a.requests += sum.TotalRequests()
			a.isNamed = a.isNamed || row.NamedByRobots
		}
	}
	return stats
}

// readyForEnforceAlerts returns alerts about sites that have been in the mode monitor for a week,
// and where enforce would have blocked no crawler by mistake.
func readyForEnforceAlerts(source *report.Source, now time.Time) (found []Alert) {
	if now.Sub(ledger.FromUnixMilli(source.Ledger.Since)) < minMonitorTime {
		return nil
	}
	isMistake := func(class report.ClassImpact) bool { return mayBlockByMistake(source, class) }
	for _, s := range source.Ledger.Sites {
		live := source.SiteStates[s.Name]
		if live.Mode != judge.ModeWord(false) || live.State == nil || live.State.Current == nil || !live.State.Current.Robots.Restricts() || len(found) == maxReadySites {
			continue
		}
		first := now
		for _, row := range s.Rows {
			if firstSeen := ledger.FromUnixMilli(row.FirstSeen); firstSeen.Before(first) {
				first = firstSeen
			}
		}
		impact := source.Impact(report.Filter{Site: s.Name, Window: report.Week})
		if now.Sub(first) < minMonitorTime || impact.Requests == 0 || impact.Blocked > 0 || slices.ContainsFunc(impact.ByClass, isMistake) {
			continue
		}
		found = append(found, Alert{
			ID: newID(ReadyForEnforce, s.Name), Kind: ReadyForEnforce, Severity: Info, Site: s.Name, Since: first.Add(minMonitorTime),
			Title: s.Name + " is ready for enforce",
			Detail: fmt.Sprintf("The site was in mode monitor for 7 days. In mode enforce, %d requests would have been blocked. None of them was from a search engine, link preview or feed reader that the robots.txt does not name.",
				impact.WouldBlock),
			Remedy:        "Replace robots_guard of this site with this line, and reload.",
			RemedySnippet: "robots_guard enforce",
		})
	}
	return found
}

// mayBlockByMistake reports whether enforce would block crawlers of a class that the owner may not
// want to block. These are classes that bring visitors, unless a rule names the crawler.
func mayBlockByMistake(source *report.Source, class report.ClassImpact) bool {
	switch class.Class {
	case uaident.Search.String(), uaident.Preview.String(), uaident.Feed.String():
	default:
		return false
	}
	return slices.ContainsFunc(class.Crawlers, func(c report.CrawlerImpact) bool {
		isMistake := func(r report.RuleCount) bool { return !source.NamesCrawler(r.Group, c.Token) }
		return c.BlockedByEnforce > 0 && (len(c.Rules) == 0 || slices.ContainsFunc(c.Rules, isMistake))
	})
}
