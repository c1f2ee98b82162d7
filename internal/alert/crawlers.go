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
	// A new crawler was first seen within newFor, and not in the first newAfter of counting.
	// It has at least ofSize requests in 24 hours.
	newFor   = 7 * 24 * time.Hour
	newAfter = 24 * time.Hour
	ofSize   = 1000
	maxNew   = 20 // maximum number of alerts, most requests first

	readyAfter = 7 * 24 * time.Hour // in monitor
	maxReady   = 50                 // sites
)

// findInLedger returns the findings about crawlers and sites in the ledger. open reports whether an
// alert is open: after a reload, the mode of a site is unknown until the first request of a crawler,
// and open alerts must stay open.
func findInLedger(source *report.Source, now time.Time, open func(id string) bool) []finding {
	return slices.Concat(findParity(source, now), findNew(source, now), findReady(source, now, open))
}

// arrival is the data about a crawler at all sites.
type arrival struct {
	name     string
	first    time.Time
	requests uint64 // in the last 24 hours
	known    bool   // named by a robots.txt
}

// findNew returns new crawlers with many requests.
func findNew(source *report.Source, now time.Time) (found []finding) {
	var all []*arrival
	for _, a := range arrivals(source.Ledger, now) {
		counted := a.first.Sub(ledger.Time(source.Ledger.Since)) >= newAfter
		if counted && !a.known && a.requests >= ofSize && now.Sub(a.first) < newFor {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(x, y *arrival) int {
		return cmp.Or(cmp.Compare(y.requests, x.requests), cmp.Compare(x.name, y.name))
	})
	for _, a := range all[:min(len(all), maxNew)] {
		f := finding{Alert: Alert{
			ID: idOf(NewCrawler, a.name), Kind: NewCrawler, Severity: Info, Crawler: a.name, Since: a.first,
			Title:  a.name + " is new here",
			Detail: fmt.Sprintf("It came %d times in 24 hours, first at %s. No robots.txt names it.", a.requests, timeWords(a.first, now)),
			Do:     "Acknowledge if it is welcome.",
		}}
		if isToken(a.name) {
			f.Do, f.Copy = "Add this to robots.txt if you do not want it, else acknowledge.", "User-agent: "+a.name+"\nDisallow: /"
		}
		found = append(found, f)
	}
	return found
}

// arrivals returns crawlers by name. It omits classes that most sites welcome, and spoofed
// clients.
func arrivals(all ledger.Snapshot, now time.Time) map[string]*arrival {
	known := make(map[string]*arrival)
	note := func(name string, first int64, requests uint64, named bool) {
		a := known[name]
		if a == nil {
			a = &arrival{name: name, first: ledger.Time(first)}
			known[name] = a
		}
		if at := ledger.Time(first); at.Before(a.first) {
			a.first = at
		}
		a.requests += requests
		a.known = a.known || named
	}
	for _, s := range all.Sites {
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
				note(row.Token, row.FirstSeen, sum.Requests(), row.Named)
			default:
				for _, item := range row.Names.Items {
					if item.Error == 0 && now.Sub(ledger.Time(item.Last)) < newAfter {
						note(item.Key, item.First, inADay(item.Count, now.Sub(ledger.Time(item.First))), false)
					}
				}
			}
		}
	}
	return known
}

// inADay returns how many of the requests in a time came in 24 hours, on average.
func inADay(requests uint64, in time.Duration) uint64 {
	return uint64(float64(requests) * min(1, float64(24*time.Hour)/float64(max(in, 1))))
}

// isToken reports whether a name is valid in a user-agent line.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// findReady returns sites in monitor for a week in which enforce would have blocked no
// crawler by mistake.
func findReady(source *report.Source, now time.Time, open func(id string) bool) (found []finding) {
	if now.Sub(ledger.Time(source.Ledger.Since)) < readyAfter {
		return nil
	}
	for _, s := range source.Ledger.Sites {
		live, id := source.Live[s.Name], idOf(ReadyForEnforce, s.Name)
		if monitored := live.Mode == judge.ModeOf(false) || live.Mode == "" && open(id); !monitored || live.State == nil || live.State.Good == nil || !live.State.Good.Robots.Restricts() || len(found) == maxReady {
			continue
		}
		first := now
		for _, row := range s.Rows {
			if at := ledger.Time(row.FirstSeen); at.Before(first) {
				first = at
			}
		}
		impact := source.Impact(report.Filter{Site: s.Name, Window: report.Week})
		if now.Sub(first) < readyAfter || impact.Requests == 0 || impact.Blocked > 0 || slices.ContainsFunc(impact.ByClass, hurts) {
			continue
		}
		found = append(found, finding{Alert: Alert{
			ID: id, Kind: ReadyForEnforce, Severity: Info, Site: s.Name, Since: first.Add(readyAfter),
			Title: s.Name + " is ready for enforce",
			Detail: fmt.Sprintf("It was monitored for 7 days. enforce would have blocked %d requests, and none of a search engine, a preview or a feed reader that the robots.txt does not name.",
				impact.WouldBlock),
			Do:   "Replace robots_guard of this site.",
			Copy: "robots_guard enforce",
		}})
	}
	return found
}

// hurts reports whether enforce would block crawlers of a class by mistake. These are classes
// that bring visitors, unless a rule names the crawler.
func hurts(class report.ImpactClass) bool {
	switch class.Class {
	case uaident.Search.String(), uaident.Preview.String(), uaident.Feed.String():
	default:
		return false
	}
	return slices.ContainsFunc(class.Crawlers, func(c report.ImpactCrawler) bool {
		byMistake := func(r report.RuleCount) bool { return !isMeant(r.Group, c.Token) }
		return c.Blockable > 0 && (len(c.Rules) == 0 || slices.ContainsFunc(c.Rules, byMistake))
	})
}

// isMeant reports whether a group names a crawler.
func isMeant(group, token string) bool {
	if known := uaident.Default().Lookup(token); known != nil {
		return judge.Means(group, known)
	}
	return policy.NameMatches(group, token)
}
