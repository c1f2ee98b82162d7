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

// ShadowTrials shows what robots.txt files on trial would change. The numbers of a trial count from
// its start, whatever the window.
type ShadowTrials struct {
	ViewHeader
	// TrialFiles are the robots.txt files on trial, by source.
	TrialFiles []TrialFile `json:"texts"`
	// Trials are the effects of these files, one for each site.
	Trials []Trial `json:"trials"`
}

// TrialFile is the state of a robots.txt that is on trial.
type TrialFile struct {
	Source  string `json:"from"`              // Source is the URL or path of the file.
	Version string `json:"version,omitempty"` // Version is absent without a usable file.
	Rules   int    `json:"rules"`
	// FirstFetched is the time at which this version was first fetched.
	FirstFetched time.Time `json:"first_read,omitzero"`
	LastFetched  time.Time `json:"last_read,omitzero"`
	NextFetch    time.Time `json:"next_read,omitzero"`
	Error        string    `json:"error,omitempty"` // Error is the error of the last attempt.
}

// Trial is the effect of a robots.txt on trial at one site.
type Trial struct {
	Site         string `json:"site"`
	Authority    string `json:"authority,omitempty"` // Authority is absent if the site stands for several hosts.
	Source       string `json:"from"`
	TrialVersion string `json:"tried"` // TrialVersion is the version of the file on trial.
	// InForce is the version in force. It is absent if each host has its own.
	InForce string    `json:"in_force,omitempty"`
	Since   time.Time `json:"since"` // Since is the time of the last change of either file.
	VerdictDifferences
	// Search counts only the requests of search engines.
	Search VerdictDifferences `json:"search"`
	// Crawlers are all crawlers of the trial: search engines first, then by NewlyForbidden, highest
	// first.
	Crawlers []CrawlerTrialEffect `json:"crawlers"`
}

// VerdictDifferences counts requests by the difference between two verdicts: by the file in force
// and by the file on trial.
type VerdictDifferences struct {
	Requests       uint64 `json:"requests"` // Requests is the number of requests that were judged by both files.
	NewlyForbidden uint64 `json:"newly_forbidden"`
	NewlyAllowed   uint64 `json:"newly_allowed"`
}

// CrawlerTrialEffect is the effect of a robots.txt on trial on one crawler.
type CrawlerTrialEffect struct {
	Token          string `json:"token"`
	Class          string `json:"class"`
	Identity       string `json:"identity"`
	Operator       string `json:"operator,omitempty"`
	IsSearchEngine bool   `json:"search"` // IsSearchEngine is true for a search engine.
	VerdictDifferences
	// Pages are the pages with different verdicts: newly forbidden pages first, then by frequency,
	// at most 16 of each kind.
	Pages []ChangedPage `json:"pages"`
}

// ChangedPage is a page for which the file on trial has another verdict than the file in force.
type ChangedPage struct {
	Difference string `json:"difference"` // Difference is newly_forbidden or newly_allowed.
	Host       string `json:"host,omitempty"`
	Path       string `json:"path"`
	Estimate
	RuleInForce TrialRule `json:"was"`   // RuleInForce is the deciding rule of the file in force.
	RuleOnTrial TrialRule `json:"would"` // RuleOnTrial is the deciding rule of the file on trial.
}

// TrialRule is the rule that decides about a page, in the file in force or in the file on trial.
type TrialRule struct {
	Rule  string `json:"rule,omitempty"`  // Rule is absent if no rule matches.
	Line  int    `json:"line,omitempty"`  // Line is the line of the rule.
	Group string `json:"group,omitempty"` // Group is absent without a group.
}

// DescribeTrialProblem describes why a robots.txt on trial cannot be used. The result is "" for a
// usable file.
func DescribeTrialProblem(s *policy.State) string {
	trouble := DescribeFetchProblem(s)
	switch {
	case trouble != "" || s == nil || s.Current == nil || shadow.ReadableVersion(s) != nil:
		return trouble
	case shadow.IsWebPage(s.Current):
		return "the response is a web page, not a robots.txt"
	}
	return "the file does not exist (" + describeStatus(s.Current.Status) + ")"
}

// Shadow returns the trials at the sites that match the filter.
func (s *Source) Shadow(f Filter) ShadowTrials {
	v := s.applyFilter(f)
	list := ShadowTrials{ViewHeader: v.header(), TrialFiles: []TrialFile{}, Trials: []Trial{}}
	for _, from := range slices.Sorted(maps.Keys(s.TrialStates)) {
		list.TrialFiles = append(list.TrialFiles, newTrialFile(from, s.TrialStates[from]))
	}
	for _, t := range s.Trials {
		if f.Site == "" || f.Site == t.Label {
			list.Trials = append(list.Trials, v.newTrial(t))
		}
	}
	return list
}

func newTrialFile(from string, state *policy.State) TrialFile {
	t := TrialFile{Source: from, Error: DescribeTrialProblem(state)}
	if state != nil {
		t.NextFetch = state.NextFetch
	}
	if is := shadow.ReadableVersion(state); is != nil {
		t.Version, t.Rules, t.FirstFetched, t.LastFetched = formatVersion(is.Hash), is.Robots.RuleCount(), is.FirstFetched, is.LastFetched
	}
	return t
}

// newTrial returns the effect of a trial on the crawlers that match the filter.
func (v *filteredSource) newTrial(t shadow.TrialResults) Trial {
	one := Trial{
		Site: t.Label, Source: t.Source, TrialVersion: formatVersion(t.OnTrial), InForce: formatVersion(t.InForce), Since: t.Since,
		Crawlers: []CrawlerTrialEffect{},
	}
	if t.Site.Host != "" {
		one.Authority = t.Site.String()
	}
	for _, row := range t.Rows {
		if v.filter.Class != "" && row.Class.String() != v.filter.Class || v.filter.Identity != "" && row.Identity.String() != v.filter.Identity {
			continue
		}
		c := v.newCrawlerTrialEffect(row)
		one.Crawlers = append(one.Crawlers, c)
		one.VerdictDifferences = one.plus(c.VerdictDifferences)
		if c.IsSearchEngine {
			one.Search = one.Search.plus(c.VerdictDifferences)
		}
	}
	slices.SortFunc(one.Crawlers, compareCrawlerTrialEffects)
	return one
}

// plus returns the sum of two counts.
func (d VerdictDifferences) plus(other VerdictDifferences) VerdictDifferences {
	return VerdictDifferences{d.Requests + other.Requests, d.NewlyForbidden + other.NewlyForbidden, d.NewlyAllowed + other.NewlyAllowed}
}

// compareCrawlerTrialEffects orders crawlers: verified search engines, other search engines, all
// other crawlers. Within each, the highest NewlyForbidden is first.
func compareCrawlerTrialEffects(a, b CrawlerTrialEffect) int {
	rank := func(c CrawlerTrialEffect) int {
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

func (v *filteredSource) newCrawlerTrialEffect(row shadow.CrawlerResults) CrawlerTrialEffect {
	c := CrawlerTrialEffect{
		Token: row.Token, Class: row.Class.String(), Identity: row.Identity.String(), IsSearchEngine: judge.IsSearchEngine(row.Class, row.Identity),
		VerdictDifferences: VerdictDifferences{NewlyForbidden: row.CountByDifference[shadow.NewlyForbidden], NewlyAllowed: row.CountByDifference[shadow.NewlyAllowed]},
		Pages:              []ChangedPage{},
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
			c.Pages = append(c.Pages, ChangedPage{
				Difference: difference, Host: page.Key.Host, Path: page.Key.Path, Estimate: newEstimate(page),
				RuleInForce: newTrialRule(page.Key.LineInForce), RuleOnTrial: newTrialRule(page.Key.LineOnTrial),
			})
		}
	}
	return c
}

func newTrialRule(l shadow.DecidingLine) TrialRule {
	return TrialRule{Rule: l.Rule.String(), Line: l.Rule.Line, Group: l.Group}
}
