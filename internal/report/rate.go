package report

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	// rateMinutes is the length of the current rate in minutes, including the current minute.
	rateMinutes = 5
	peakHours   = 6 // peakHours is the length of the series of minutes.
)

// requestRate returns the request rate of a crawler at one site.
func (v *filteredSource) requestRate(entries []siteRow) RequestRate {
	minute := v.now.Truncate(time.Minute)
	from := minute.Add(-(rateMinutes - 1) * time.Minute)
	day := v.now.Add(-24 * time.Hour).Truncate(time.Hour)
	var now, daily ledger.CounterValues
	minutes := make(map[time.Time]uint64) // This covers the time since peakHours ago.
	for _, e := range entries {
		now.Add(e.row.Series[ledger.Minutes].Sum(ledger.Minutes, from, v.now))
		daily.Add(e.row.Series[ledger.Hours].Sum(ledger.Hours, day, v.now))
		for _, cell := range e.row.Series[ledger.Minutes] {
			if at := cell.StartTime(ledger.Minutes); !at.Before(minute.Add(-peakHours*time.Hour)) && !at.After(v.now) {
				counts := cell.CounterValues()
				minutes[at] += counts.TotalRequests()
			}
		}
	}
	r := RequestRate{PerMinute: float64(now.TotalRequests()) / v.now.Sub(from).Minutes(), PerMinuteOfDay: float64(daily.TotalRequests()) / v.now.Sub(day).Minutes()}
	for _, n := range minutes {
		r.PeakPerMinute = max(r.PeakPerMinute, n)
	}
	v.setCrawlDelay(&r, entries, now.TotalRequests())
	return r
}

// setCrawlDelay sets the Crawl-delay of the site for the crawler, and whether the crawler exceeds
// it. seen is the number of its requests in the last rateMinutes.
func (v *filteredSource) setCrawlDelay(r *RequestRate, entries []siteRow, seen uint64) {
	good := v.SiteStates[entries[0].site].currentVersion()
	if good == nil {
		return
	}
	row := entries[0].row
	known := v.lookupCrawler(row.Token)
	group, _, applies := v.newGroupQuery(row.Token, row.Class).Group(good.Robots)
	var habit uaident.CrawlDelay
	if known != nil {
		habit = known.CrawlDelay
	}
	delay := judge.CrawlDelay(group, habit)
	if !applies || delay == (policy.Delay{}) {
		return
	}
	r.CrawlDelay, r.DelayLine, r.CrawlDelaySupport = delay.Interval.Seconds(), delay.Line, uaident.DelayUndocumented.String()
	reads := true
	if known != nil {
		r.CrawlDelaySupport, reads = known.CrawlDelay.Support.String(), known.CrawlDelay.Support != uaident.DelayIgnored
	}
	rules := rate.DefaultSettings.RulesForClient(&uaident.Identity{Crawler: known}, row.Identity, delay.Interval, nil)
	r.Exceeds = reads && seen > uint64(rules.MaxRequestsInWindow())
}
