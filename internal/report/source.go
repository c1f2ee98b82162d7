package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Source is what views are made of. It does not change.
type Source struct {
	Ledger ledger.Snapshot
	Now    time.Time
	// Live is what is known of sites besides the ledger, by name.
	Live map[string]Live
	// Registry is what is known of crawlers; nil for [uaident.Default].
	Registry *uaident.Registry
	History  History
	// Tried are texts that are tried, by where they come from, and Trials what they
	// would change.
	Tried  map[string]*policy.State
	Trials []shadow.Trial
	// Found remembers what was found in texts; nil to look each time.
	Found *lint.Kept
	// Withheld are crawlers that get something else instead of a robots.txt.
	Withheld []parity.Withheld
	// Texts knows of robots_txt; nil if there is none.
	Texts Texts
}

// findings returns what is wrong with the current text of a site, nothing where
// that has none.
func (s *Source) findings(l Live) *lint.Report {
	good := l.good()
	if good == nil {
		return new(lint.Report)
	}
	site := ""
	if l.Source == "server" {
		site = l.Authority
	}
	return s.Found.Of(good, site)
}

// lookup returns what is known of a crawler, nil if that is nothing.
func (s *Source) lookup(token string) *uaident.Crawler {
	if s.Registry == nil {
		return uaident.Default().Lookup(token)
	}
	return s.Registry.Lookup(token)
}

// Live is the state of a site now. The zero Live knows nothing.
type Live struct {
	Mode      string // see Site.Mode
	Enforces  bool   // some part of the site is in enforce, or was until the reload after which no crawler has asked yet
	Authority string // see Health.Authority
	Source    string // server, url or file
	State     *policy.State
	HeldUntil time.Time // see Health.HeldUntil

	TakesEffect time.Time // see Health.TakesEffect
}

// good returns the current version of the site's robots.txt, nil if there is
// none.
func (l Live) good() *policy.Version {
	if l.State == nil {
		return nil
	}
	return l.State.Good
}

// versions returns the versions that are kept, the newest first.
func (l Live) versions() []*policy.Version {
	if l.good() == nil {
		return nil
	}
	return append([]*policy.Version{l.State.Good}, l.State.Past...)
}

// entry is a row of the ledger that a filter lets through.
type entry struct {
	site   string
	row    *ledger.Row
	counts ledger.Counts // in the window
	before ledger.Counts // in the previous period, if that was counted
}

// view is the part of the source that a filter lets through.
type view struct {
	*Source
	span
	filter  Filter
	entries []entry

	impostors map[string]uint64 // by token, see impostorsOf; nil until somebody asks
}

func (s *Source) view(f Filter) *view {
	if f.Window == "" {
		f.Window = Day
	}
	v := &view{Source: s, span: s.span(f), filter: f}
	for _, site := range s.Ledger.Sites {
		if f.Site != "" && site.Name != f.Site {
			continue
		}
		for _, row := range site.Rows {
			if f.Class != "" && row.Class != f.Class || f.Identity != "" && row.Identity.String() != f.Identity {
				continue
			}
			series := row.Series[v.resolution]
			e := entry{site: site.Name, row: row, counts: series.Sum(v.resolution, v.from, v.end.Add(-1))}
			if !v.previous.IsZero() {
				e.before = series.Sum(v.resolution, v.previous, v.from.Add(-1))
			}
			v.entries = append(v.entries, e)
		}
	}
	return v
}

func (v *view) head() Head {
	sites, classes, identities := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for name := range v.Live {
		sites[name] = true
	}
	for _, site := range v.Ledger.Sites {
		sites[site.Name] = true
		for _, row := range site.Rows {
			classes[row.Class], identities[row.Identity.String()] = true, true
		}
	}
	return Head{
		Filter: v.filter, Generated: v.now, From: v.from, To: v.to(), CountedFrom: v.counted, PreviousFrom: v.previous, Since: ledger.Time(v.Ledger.Since),
		Sites: sorted(sites), Classes: sorted(classes), Identities: sorted(identities),
	}
}

// sorted returns the members of set. It is never nil, so that JSON says [] for
// an empty one.
func sorted(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// sum returns what was counted in the window.
func (v *view) sum(entries []entry) Counts {
	var sum ledger.Counts
	for _, e := range entries {
		sum.Add(e.counts)
	}
	return countsOf(sum)
}

// before returns what was counted in the previous period, nil if not all of that
// was.
func (v *view) before(entries []entry) *Counts {
	if v.previous.IsZero() {
		return nil
	}
	var sum ledger.Counts
	for _, e := range entries {
		sum.Add(e.before)
	}
	counts := countsOf(sum)
	return &counts
}

func countsOf(c ledger.Counts) Counts {
	return Counts{
		Requests: c.Requests(), Allowed: c[ledger.CountAllowed], Disallowed: c[ledger.CountDisallowed], Stale: c[ledger.CountStale],
		Exempt: c[ledger.CountExempt], Unknown: c[ledger.CountUnknown], Blocked: c[ledger.CountBlocked], WouldBlock: c[ledger.CountWouldBlock], Slowed: c[ledger.CountSlowed],
		ViolationsBlocked: c[ledger.CountViolationBlocked], ViolationsOnlyLogged: c[ledger.CountViolationOnlyLogged],
	}
}

// series returns the counts of each step of the window.
func (v *view) series(entries []entry) Series {
	step := v.resolution.Step()
	sums := make([]ledger.Counts, v.steps)
	for _, e := range entries {
		for _, cell := range e.row.Series[v.resolution] {
			if i := int(cell.At(v.resolution).Sub(v.from) / step); !cell.At(v.resolution).Before(v.from) && i < v.steps {
				sums[i].Add(cell.Counts())
			}
		}
	}
	s := Series{StepSeconds: int(step / time.Second), Points: make([]Point, v.steps)}
	for i, sum := range sums {
		s.Points[i] = Point{At: v.from.Add(time.Duration(i) * step), Counts: countsOf(sum)}
	}
	return s
}

// sparkline is a series in short.
func (s Series) sparkline() Sparkline {
	short := Sparkline{StepSeconds: s.StepSeconds, Requests: []uint64{}, Disallowed: []uint64{}}
	for _, p := range s.Points {
		short.Requests, short.Disallowed = append(short.Requests, p.Requests), append(short.Disallowed, p.Disallowed)
	}
	return short
}

// sites returns the names of the sites that the filter lets through.
func (v *view) sites() (names []string) {
	for _, name := range v.head().Sites {
		if v.filter.Site == "" || name == v.filter.Site {
			names = append(names, name)
		}
	}
	return names
}

// idOf returns what asks for the detail of a crawler.
func idOf(row *ledger.Row) string {
	if strings.HasPrefix(row.Token, "_") {
		return row.Token + ":" + row.Class
	}
	return row.Token
}

// crawlers returns the entries of each crawler with a request in the window.
func (v *view) crawlers() map[string][]entry {
	byID := make(map[string][]entry)
	for _, e := range v.entries {
		if e.counts.Requests() > 0 {
			byID[idOf(e.row)] = append(byID[idOf(e.row)], e)
		}
	}
	return byID
}

// estimate returns an item of a sketch as a view shows it.
func estimate[K comparable](item spacesaving.Item[K]) Estimate {
	return Estimate{Count: item.Count, Error: item.Error, First: ledger.Time(item.First), Last: ledger.Time(item.Last)}
}

// inWindow reports whether an item of a sketch was seen in the window.
func inWindow[K comparable](v *view, item spacesaving.Item[K]) bool {
	return !ledger.Time(item.Last).Before(v.from) && ledger.Time(item.First).Before(v.end)
}

// byCount sorts the most frequent first, then the latest.
func byCount(a, b Estimate) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last))
}

// page returns a part of a list, and the offset of the next one, "" on the last.
func page[T any](list []T, after, limit int) (part []T, next string) {
	part = list[min(max(after, 0), len(list)):]
	if len(part) > limit {
		return part[:limit:limit], fmt.Sprint(after + limit)
	}
	return append([]T{}, part...), ""
}

// chainOf returns the names under which a robots.txt addresses a crawler, and
// whether the * group is meant for it by default.
func (s *Source) chainOf(token, class string) (chain []string, wildcard bool) {
	if known := s.lookup(token); known != nil {
		chain = append([]string{known.Token}, known.Aliases...)
		return append(chain, known.Fallback...), known.JudgedByWildcard()
	}
	c, _ := uaident.ParseClass(class)
	return []string{strings.Clone(token)}, c.JudgedByWildcard()
}
