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

// Source is the immutable data for views.
type Source struct {
	Ledger ledger.Snapshot
	Now    time.Time
	// SiteStates is the current state of sites by name.
	SiteStates map[string]SiteState
	// Registry is the registry in use, or nil for [uaident.Default].
	Registry *uaident.Registry
	History  History
	// TrialStates are trial files by source, and Trials their effects.
	TrialStates map[string]*policy.State
	Trials      []shadow.Trial
	// LintCache caches findings. nil disables the cache.
	LintCache *lint.Cache
	// Withheld are crawlers with another response instead of the robots.txt.
	Withheld []responseaudit.Withheld
	// ManagedFiles provides the state of robots_txt, or is nil.
	ManagedFiles ManagedFiles
}

// findings returns the lint findings in the current version of a site.
func (s *Source) findings(l SiteState) *lint.Report {
	good := l.current()
	if good == nil {
		return new(lint.Report)
	}
	site := ""
	if l.Source == "server" {
		site = l.Authority
	}
	return s.LintCache.Report(good, site)
}

// lookupCrawler returns the registry entry of a crawler, or nil.
func (s *Source) lookupCrawler(token string) *uaident.Crawler {
	if s.Registry == nil {
		return uaident.Default().Lookup(token)
	}
	return s.Registry.Lookup(token)
}

// SiteState is the current state of a site. The zero value is an unknown site.
type SiteState struct {
	Mode      string // see Site.Mode
	Enforces  bool   // part of the site is in enforce, or was before a reload without requests since
	Authority string // see Health.Authority
	Source    string // server, url or file
	State     *policy.State
	HeldUntil time.Time // see Health.HeldUntil

	TakesEffect time.Time // see Health.TakesEffect
}

// current returns the current version of the site's robots.txt, or nil.
func (l SiteState) current() *policy.Version {
	if l.State == nil {
		return nil
	}
	return l.State.Current
}

// versions returns the stored versions, newest first.
func (l SiteState) versions() []*policy.Version {
	if l.current() == nil {
		return nil
	}
	return append([]*policy.Version{l.State.Current}, l.State.Previous...)
}

// siteRow is a ledger row matching a filter.
type siteRow struct {
	site         string
	row          *ledger.Row
	counts       ledger.CounterValues // in the window
	countsBefore ledger.CounterValues // in the previous period, if counted
}

// view is the part of the source matching a filter.
type view struct {
	*Source
	timeSpan
	filter  Filter
	entries []siteRow

	impostorCounts map[string]uint64 // cache of impostorRequests, by token
}

func (s *Source) view(f Filter) *view {
	if f.Window == "" {
		f.Window = Day
	}
	v := &view{Source: s, timeSpan: s.span(f), filter: f}
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
				e.countsBefore = series.Sum(v.resolution, v.previousFrom, v.from.Add(-1))
			}
			v.entries = append(v.entries, e)
		}
	}
	return v
}

func (v *view) head() ViewHeader {
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
		Filter: v.filter, Generated: v.now, From: v.from, To: v.to(), CountedFrom: v.countedFrom, PreviousFrom: v.previousFrom, LedgerStart: ledger.FromUnixMilli(v.Ledger.Since),
		Sites: sorted(sites), Classes: sorted(classes), Identities: sorted(identities),
	}
}

// sorted returns the members of a set in order. The result is never nil, and encoded as [] in
// JSON.
func sorted(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// sumCounts returns the numbers of the window.
func (v *view) sumCounts(entries []siteRow) Counts {
	var sum ledger.CounterValues
	for _, e := range entries {
		sum.Add(e.counts)
	}
	return countsOf(sum)
}

// sumBefore returns the numbers of the previous period, or nil if data of the period is missing.
func (v *view) sumBefore(entries []siteRow) *Counts {
	if v.previousFrom.IsZero() {
		return nil
	}
	var sum ledger.CounterValues
	for _, e := range entries {
		sum.Add(e.countsBefore)
	}
	counts := countsOf(sum)
	return &counts
}

func countsOf(c ledger.CounterValues) Counts {
	return Counts{
		Requests: c.TotalRequests(), Allowed: c[ledger.CountAllowed], Disallowed: c[ledger.CountDisallowed], Stale: c[ledger.CountStale],
		Exempt: c[ledger.CountExempt], Unknown: c[ledger.CountUnknown], Blocked: c[ledger.CountBlocked], WouldBlock: c[ledger.CountWouldBlock], Slowed: c[ledger.CountSlowed],
		ViolationsBlocked: c[ledger.CountViolationBlocked], ViolationsOnlyLogged: c[ledger.CountViolationOnlyLogged],
	}
}

// newSeries returns the numbers by step.
func (v *view) newSeries(entries []siteRow) Series {
	step := v.resolution.StepLength()
	sums := make([]ledger.CounterValues, v.steps)
	for _, e := range entries {
		for _, cell := range e.row.Series[v.resolution] {
			if i := int(cell.StartTime(v.resolution).Sub(v.from) / step); !cell.StartTime(v.resolution).Before(v.from) && i < v.steps {
				sums[i].Add(cell.CounterValues())
			}
		}
	}
	s := Series{StepSeconds: int(step / time.Second), Points: make([]Point, v.steps)}
	for i, sum := range sums {
		s.Points[i] = Point{At: v.from.Add(time.Duration(i) * step), Counts: countsOf(sum)}
	}
	return s
}

// sparkline returns a short form of the series.
func (s Series) sparkline() Sparkline {
	short := Sparkline{StepSeconds: s.StepSeconds, Requests: []uint64{}, Disallowed: []uint64{}}
	for _, p := range s.Points {
		short.Requests, short.Disallowed = append(short.Requests, p.Requests), append(short.Disallowed, p.Disallowed)
	}
	return short
}

// sites returns the names of the sites matching the filter.
func (v *view) sites() (names []string) {
	for _, name := range v.head().Sites {
		if v.filter.Site == "" || name == v.filter.Site {
			names = append(names, name)
		}
	}
	return names
}

// crawlerID returns the id of a crawler for its detail view.
func crawlerID(row *ledger.Row) string {
	if strings.HasPrefix(row.Token, "_") {
		return row.Token + ":" + row.Class
	}
	return row.Token
}

// crawlers returns the entries of each crawler with a request in the window.
func (v *view) crawlers() map[string][]siteRow {
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

// seenInWindow reports whether an item of a sketch was seen in the window.
func seenInWindow[K comparable](v *view, item spacesaving.Item[K]) bool {
	return !ledger.FromUnixMilli(item.Last).Before(v.from) && ledger.FromUnixMilli(item.First).Before(v.end)
}

// compareCounts sorts by count, then by last occurrence.
func compareCounts(a, b Estimate) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last))
}

// pageOf returns a part of a list, and the offset of the next part or "".
func pageOf[T any](list []T, after, limit int) (part []T, next string) {
	part = list[min(max(after, 0), len(list)):]
	if len(part) > limit {
		return part[:limit:limit], fmt.Sprint(after + limit)
	}
	return append([]T{}, part...), ""
}

// groupQueryOf returns a crawler for the selection of its group.
func (s *Source) groupQueryOf(token, class string) judge.GroupQuery {
	if known := s.lookupCrawler(token); known != nil {
		chain := slices.Concat([]string{known.Token}, known.Aliases, known.Fallback)
		return judge.GroupQuery{Names: chain, WildcardApplies: known.WildcardApplies(), Lenient: known.ParsesLeniently()}
	}
	c, _ := uaident.ParseClass(class)
	return judge.GroupQuery{Names: []string{token}, WildcardApplies: c.WildcardApplies()}
}
