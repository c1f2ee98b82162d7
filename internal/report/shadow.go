package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Shadow is the effect of trial files. A trial's numbers are since its beginning, whatever
// the window.
type Shadow struct {
	ViewHeader
	// TrialFiles are the trial files by source.
	TrialFiles []TrialFile `json:"texts"`
	// Trials are the effects by site.
	Trials []Trial `json:"trials"`
}

// TrialFile is the state of a trial file.
type TrialFile struct {
	Source       string    `json:"from"`              // its URL or path
	Version      string    `json:"version,omitempty"` // absent without a usable file
	Rules        int       `json:"rules"`
	FirstFetched time.Time `json:"first_read,omitzero"` // this version
	LastFetched  time.Time `json:"last_read,omitzero"`
	NextFetch    time.Time `json:"next_read,omitzero"`
	Error        string    `json:"error,omitempty"` // error of the last attempt
}

// Trial is the effect of a trial file at a site.
type Trial struct {
	Site         string    `json:"site"`
	Authority    string    `json:"authority,omitempty"` // absent where the site stands for several hosts
	Source       string    `json:"from"`
	TrialVersion string    `json:"tried"`              // version of the trial file
	InForce      string    `json:"in_force,omitempty"` // absent if each host has its own
	Since        time.Time `json:"since"`              // last change of either file
	Differences
	// Search are the differences for search engines.
	Search Differences `json:"search"`
	// Crawlers are all crawlers: search engines first, then by number of newly forbidden
	// requests.
	Crawlers []TrialCrawler `json:"crawlers"`
}

// Differences count requests by the change of their verdict.
type Differences struct {
	Requests       uint64 `json:"requests"` // judged by both files
	NewlyForbidden uint64 `json:"newly_forbidden"`
	NewlyAllowed   uint64 `json:"newly_allowed"`
}

// TrialCrawler is the effect of a trial file on a crawler.
type TrialCrawler struct {
	Token          string `json:"token"`
	Class          string `json:"class"`
	Identity       string `json:"identity"`
	Operator       string `json:"operator,omitempty"`
	IsSearchEngine bool   `json:"search"` // search engine
	Differences
	// Pages are the pages with another verdict: newly forbidden pages first, then by
	// frequency, at most 16 of each kind.
	Pages []TrialPage `json:"pages"`
}

// TrialPage is a page with another verdict.
type TrialPage struct {
	Difference string `json:"difference"` // newly_forbidden or newly_allowed
	Host       string `json:"host,omitempty"`
	Path       string `json:"path"`
	Estimate
	RuleInForce TrialLine `json:"was"`   // deciding rule in force
	RuleOnTrial TrialLine `json:"would"` // deciding rule of the trial file
}

// TrialLine is the deciding rule of a file.
type TrialLine struct {
	Rule  string `json:"rule,omitempty"`  // absent without a rule
	Line  int    `json:"line,omitempty"`  // of the rule
	Group string `json:"group,omitempty"` // absent without a group
}

// TrialProblem describes why a trial file is unusable. The result is "" for a usable file.
func TrialProblem(s *policy.State) string {
	trouble := FetchProblem(s)
	switch {
	case trouble != "" || s == nil || s.Current == nil || shadow.ReadableVersion(s) != nil:
		return trouble
	case shadow.IsWebPage(s.Current):
		return "the response is a web page without a rule"
	}
	return "there is none (" + describeStatus(s.Current.Status) + ")"
}

// Shadow returns the effect of trial files.
func (s *Source) Shadow(f Filter) Shadow {
	v := s.view(f)
	list := Shadow{ViewHeader: v.head(), TrialFiles: []TrialFile{}, Trials: []Trial{}}
	for _, from := range slices.Sorted(maps.Keys(s.TrialStates)) {
		list.TrialFiles = append(list.TrialFiles, newTrialFile(from, s.TrialStates[from]))
	}
	for _, t := range s.Trials {
		if f.Site == "" || f.Site == t.Label {
			list.Trials = append(list.Trials, v.trial(t))
		}
	}
	return list
}

func newTrialFile(from string, state *policy.State) TrialFile {
	t := TrialFile{Source: from, Error: TrialProblem(state)}
	if state != nil {
		t.NextFetch = state.NextFetch
	}
	if is := shadow.ReadableVersion(state); is != nil {
		t.Version, t.Rules, t.FirstFetched, t.LastFetched = versionOf(is.Hash), is.Robots.RuleCount(), is.FirstFetched, is.LastFetched
	}
	return t
}

// trial returns the part of a trial matching the filter.
func (v *view) trial(t shadow.TrialResults) Trial {
	one := Trial{
		Site: t.Label, Source: t.Source, TrialVersion: versionOf(t.OnTrial), InForce: versionOf(t.InForce), Since: t.Since,
		Crawlers: []TrialCrawler{},
	}
	if t.Site.Host != "" {
		one.Authority = t.Site.String()
	}
	for _, row := range t.Rows {
		if v.filter.Class != "" && row.Class.String() != v.filter.Class || v.filter.Identity != "" && row.Identity.String() != v.filter.Identity {
			continue
		}
		c := v.trialCrawler(row)
		one.Crawlers = append(one.Crawlers, c)
		one.Differences = one.plus(c.Differences)
		if c.IsSearchEngine {
			one.Search = one.Search.plus(c.Differences)
		}
	}
	slices.SortFunc(one.Crawlers, compareTrialCrawlers)
	return one
}

// plus returns the sum.
func (d Differences) plus(other Differences) Differences {
	return Differences{d.Requests + other.Requests, d.NewlyForbidden + other.NewlyForbidden, d.NewlyAllowed + other.NewlyAllowed}
}

// compareTrialCrawlers sorts verified search engines first, then other search engines, then by number of
// newly forbidden requests.
func compareTrialCrawlers(a, b TrialCrawler) int {
	rank := func(c TrialCrawler) int {
		switch {
		case !c.IsSearchEngine:
			return 2
		case c.Identity != verify.Verified.String():
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.NewlyForbidden, a.NewlyForbidden), cmp.Compare(b.NewlyAllowed, a.NewlyAllowed),
		cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Identity, b.Identity))
}

func (v *view) trialCrawler(row shadow.CrawlerResults) TrialCrawler {
	c := TrialCrawler{
		Token: row.Token, Class: row.Class.String(), Identity: row.Identity.String(), IsSearchEngine: judge.IsSearchEngine(row.Class, row.Identity),
		Differences: Differences{NewlyForbidden: row.CountByDifference[shadow.NewlyForbidden], NewlyAllowed: row.CountByDifference[shadow.NewlyAllowed]},
		Pages:       []TrialPage{},
	}
	for _, n := range row.CountByDifference {
		c.Requests += n
	}
	if known := v.lookupCrawler(row.Token); known != nil {
		c.Operator = known.Operator
	}
	for i, pages := range row.Pages {
		difference := shadow.Difference(i + 1).String()
		slices.SortFunc(pages, func(a, b spacesaving.Item[shadow.DifferingPage]) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Last, a.Last), cmp.Compare(a.Key.Path, b.Key.Path))
		})
		for _, page := range pages {
			c.Pages = append(c.Pages, TrialPage{
				Difference: difference, Host: page.Key.Host, Path: page.Key.Path, Estimate: newEstimate(page),
				RuleInForce: newTrialLine(page.Key.LineInForce), RuleOnTrial: newTrialLine(page.Key.LineOnTrial),
			})
		}
	}
	return c
}

func newTrialLine(l shadow.DecidingLine) TrialLine {
	return TrialLine{Rule: l.Rule.String(), Line: l.Rule.Line, Group: l.Group}
}
