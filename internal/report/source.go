package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Source has the data from which the views are computed. It must not change.
type Source struct {
	Ledger ledger.Snapshot
	Now    time.Time
	// SiteStates is the current state of each site, by name.
	SiteStates map[string]SiteState
	// Registry is the registry in use, or nil for [uaident.Default].
	Registry *uaident.Registry
	History  LedgerPersistence
	// TrialStates are the states of the robots.txt files on trial, by source. Trials are the
	// effects of these files.
	TrialStates map[string]*policy.State
	Trials      []shadow.TrialResults
	// LintCache caches the findings of lint. nil disables the cache.
	LintCache *lint.Cache
	// Withheld are the crawlers that get another response instead of the robots.txt.
	Withheld []responseaudit.WithheldFinding
	// ManagedFiles provides the state of robots_txt. It is nil without robots_txt.
	ManagedFiles ManagedFiles
}

// lintReport returns the findings of lint about the current robots.txt of a site. The report is
// empty without a robots.txt.
func (s *Source) lintReport(l SiteState) *lint.Report {
	good := l.currentVersion()
	if good == nil {
		return new(lint.Report)
	}
	site := ""
	if l.Source == "server" {
		site = l.Authority
	}
	return s.LintCache.Report(good, site)
}

// lookupCrawler returns the registry entry of the crawler with a token, or nil.
func (s *Source) lookupCrawler(token string) *uaident.Crawler {
	if s.Registry == nil {
		return uaident.Default().Lookup(token)
	}
	return s.Registry.Lookup(token)
}

// SiteState is the current state of a site. The zero value is that of an unknown site.
type SiteState struct {
	Mode string // Mode is monitor, enforce or mixed.
	// Enforces is true if part of the site is in enforce, or was before a reload without later
	// requests.
	Enforces  bool
	Authority string // Authority is the scheme, host and port of the robots.txt, or its configured URL or path.
	Source    string // Source is server, url or file.
	State     *policy.State
	HeldUntil time.Time // HeldUntil is the time until which the change guard keeps an earlier version in force, or zero.

	TakesEffect time.Time // TakesEffect is the time from which no crawler may use an earlier version, or zero.
}

// currentVersion returns the current version of the site's robots.txt, or nil.
func (l SiteState) currentVersion() *policy.Version {
	if l.State == nil {
		return nil
	}
	return l.State.Current
}

// storedVersions returns the current version and the stored earlier versions, newest first.
func (l SiteState) storedVersions() []*policy.Version {
	if l.currentVersion() == nil {
		return nil
	}
	return append([]*policy.Version{l.State.Current}, l.State.Previous...)
}

// siteRow is a row of the ledger that matches a filter, with its numbers in the window.
type siteRow struct {
	site           string
	row            *ledger.Row
	counts         ledger.CounterValues // counts are the numbers in the window.
	previousCounts ledger.CounterValues // previousCounts are the numbers in the previous period, if it was counted.
}

// filteredSource is a Source with the ledger rows that match a filter.
type filteredSource struct {
	*Source
	timeSpan
	filter  Filter
	entries []siteRow

	impostorCounts map[string]uint64 // impostorCounts caches the results of countSpoofedRequests by token.
}

func (s *Source) applyFilter(f Filter) *filteredSource {
	if f.Window == "" {
		f.Window = Day
	}
	v := &filteredSource{Source: s, timeSpan: s.newTimeSpan(f), filter: f}
	for _, site := range s.Ledger.Sites {
		if f.Site != "" && site.Name != f.Site {
			continue
		}
		for _, row := range site.Rows {
			if f.Class != "" && row.Class != f.Class || f.Identity != "" && row.Identity.String() != f.Identity {
				continue
			}
			series := row.Series[v.resolution]
			e := siteRow{site: site.Name, row: row, counts: series.Sum(v.resolution, v.from, v.end.Add(-1))}
			if !v.previousFrom.IsZero() {
				e.previousCounts = series.Sum(v.resolution, v.previousFrom, v.from.Add(-1))
			}
			v.entries = append(v.entries, e)
		}
	}
	return v
}

func (v *filteredSource) header() ViewHeader {
	sites, classes, identities := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for name := range v.SiteStates {
		sites[name] = true
	}
	for _, site := range v.Ledger.Sites {
		sites[site.Name] = true
		for _, row := range site.Rows {
			classes[row.Class], identities[row.Identity.String()] = true, true
		}
	}
	return ViewHeader{
		Filter: v.filter, Generated: v.now, From: v.from, To: v.endOrNow(), CountedFrom: v.countedFrom, PreviousFrom: v.previousFrom, LedgerStart: ledger.FromUnixMilli(v.Ledger.Since),
		Sites: sortedNames(sites), Classes: sortedNames(classes), Identities: sortedNames(identities),
	}
}

// sortedNames returns the members of a set in order. The result is never nil, so its JSON is a
// list.
func sortedNames(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// sumCounts returns the numbers of the rows in the window.
func (v *filteredSource) sumCounts(entries []siteRow) RequestCounts {
	var sum ledger.CounterValues
	for _, e := range entries {
		sum.Add(e.counts)
	}
	return newRequestCounts(sum)
}

// sumPreviousCounts returns the numbers of the rows in the previous period, or nil if not all of it
// was counted.
func (v *filteredSource) sumPreviousCounts(entries []siteRow) *RequestCounts {
	if v.previousFrom.IsZero() {
		return nil
	}
	var sum ledger.CounterValues
	for _, e := range entries {
		sum.Add(e.previousCounts)
	}
	counts := newRequestCounts(sum)
	return &counts
}

func newRequestCounts(c ledger.CounterValues) RequestCounts {
	return RequestCounts{
		Requests: c.TotalRequests(), Allowed: c[ledger.CountAllowed], Disallowed: c[ledger.CountDisallowed], Stale: c[ledger.CountStale],
		Exempt: c[ledger.CountExempt], Unknown: c[ledger.CountUnknown], Blocked: c[ledger.CountBlocked], WouldBlock: c[ledger.CountWouldBlock], Slowed: c[ledger.CountSlowed],
		ViolationsBlocked: c[ledger.CountViolationBlocked], ViolationsOnlyLogged: c[ledger.CountViolationOnlyLogged],
	}
}

// newTimeSeries returns the numbers of the rows in each step of the window.
func (v *filteredSource) newTimeSeries(entries []siteRow) TimeSeries {
	step := v.resolution.StepLength()
	sums := make([]ledger.CounterValues, v.steps)
	for _, e := range entries {
		for _, cell := range e.row.Series[v.resolution] {
			if i := int(cell.StartTime(v.resolution).Sub(v.from) / step); !cell.StartTime(v.resolution).Before(v.from) && i < v.steps {
				sums[i].Add(cell.CounterValues())
			}
		}
	}
	s := TimeSeries{StepSeconds: int(step / time.Second), Points: make([]TimeSeriesPoint, v.steps)}
	for i, sum := range sums {
		s.Points[i] = TimeSeriesPoint{At: v.from.Add(time.Duration(i) * step), RequestCounts: newRequestCounts(sum)}
	}
	return s
}

// sparkline returns the requests and the disallowed requests of each step.
func (s TimeSeries) sparkline() Sparkline {
	short := Sparkline{StepSeconds: s.StepSeconds, Requests: []uint64{}, Disallowed: []uint64{}}
	for _, p := range s.Points {
		short.Requests, short.Disallowed = append(short.Requests, p.Requests), append(short.Disallowed, p.Disallowed)
	}
	return short
}

// siteNames returns the names of the sites that match the filter.
func (v *filteredSource) siteNames() (names []string) {
	for _, name := range v.header().Sites {
		if v.filter.Site == "" || name == v.filter.Site {
			names = append(names, name)
		}
	}
	return names
}

// crawlerID returns the ID of a crawler, see [Crawler.ID].
func crawlerID(row *ledger.Row) string {
	if strings.HasPrefix(row.Token, "_") {
		return row.Token + ":" + row.Class
	}
	return row.Token
}

// rowsByCrawler returns the rows with a request in the window, by ID of the crawler.
func (v *filteredSource) rowsByCrawler() map[string][]siteRow {
	byID := make(map[string][]siteRow)
	for _, e := range v.entries {
		if e.counts.TotalRequests() > 0 {
			byID[crawlerID(e.row)] = append(byID[crawlerID(e.row)], e)
		}
	}
	return byID
}

// newEstimate converts an item of a sketch.
func newEstimate[K comparable](item spacesaving.Item[K]) Estimate {
	return Estimate{Count: item.Count, Error: item.Error, First: ledger.FromUnixMilli(item.First), Last: ledger.FromUnixMilli(item.Last)}
}

// occurredInWindow reports whether an item of a sketch can have occurred in the window: its first
// and last occurrence are not both before or both after the window.
func occurredInWindow[K comparable](v *filteredSource, item spacesaving.Item[K]) bool {
	return !ledger.FromUnixMilli(item.Last).Before(v.from) && ledger.FromUnixMilli(item.First).Before(v.end)
}

// compareEstimates orders by count, highest first, then by last occurrence, latest first.
func compareEstimates(a, b Estimate) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last))
}

// paginate returns a page of a list: it skips the number of elements in after, and returns at most
// limit elements. next is the value of after for the next page, or "" on the last page.
func paginate[T any](list []T, after, limit int) (part []T, next string) {
	part = list[min(max(after, 0), len(list)):]
	if len(part) > limit {
		return part[:limit:limit], fmt.Sprint(after + limit)
	}
	return append([]T{}, part...), ""
}

// newGroupQuery returns the names by which a crawler looks for its group in a robots.txt.
func (s *Source) newGroupQuery(token, class string) judge.GroupQuery {
	if known := s.lookupCrawler(token); known != nil {
		chain := slices.Concat([]string{known.Token}, known.Aliases, known.Fallback)
		return judge.GroupQuery{Names: chain, WildcardApplies: known.WildcardApplies(), LenientKeys: known.ParsesLeniently()}
	}
	c, _ := uaident.ParseClass(class)
	return judge.GroupQuery{Names: []string{token}, WildcardApplies: c.WildcardApplies()}
}
