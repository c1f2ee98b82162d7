package shadow

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// These constants limit rows and pages. The rows of large search engines count only for
// maxSearchEngineRows. This limit applies to all sites together, like maxRows for the other
// crawlers. Of the maxRowsPerSite rows, reservedRowsPerSite are for crawlers named in a file and
// for smaller search engines. The pages of a row take about 20 KB.
const (
	maxRowsPerSite        = 40
	reservedRowsPerSite   = 12
	maxRows               = 1500
	maxSearchEngineRows   = 1500
	maxPagesPerDifference = 16
)

// These are maximum lengths of stored strings. Longer strings are truncated.
const (
	maxTargetBytes = 200
	maxRuleBytes   = 160
	maxHostBytes   = 260
)

// rowKey identifies the row of a crawler by its token, class and identity.
type rowKey struct {
	token    string
	class    uaident.Class
	identity verify.State
}

// row has the results of a trial for one crawler at a site.
type row struct {
	countByDifference [NumDifferences]atomic.Uint64

	mu sync.Mutex // This mutex guards the fields below.
	// pages has the pages of all differences except [Same].
	pages [NumDifferences - 1]spacesaving.Sketch[DifferingPage]
}

// DifferingPage is a page that only one of the files allows, the file in force or the file on trial.
// It has the deciding line of each file.
type DifferingPage struct {
	Host                     string // Host is "" if the site has one host.
	Path                     string
	LineInForce, LineOnTrial DecidingLine
}

// DecidingLine is the robots.txt line that allows or disallows a request. Rule is zero if no rule
// matches the request, and Group is "" if no group applies to the crawler.
type DecidingLine struct {
	Rule  policy.Rule
	Group string
}

// rowLimit selects the limit on the number of rows that applies to a row.
type rowLimit uint8

const (
	noRowLimit       rowLimit = iota // This is for shared rows and verified crawlers.
	ordinaryRowLimit                 // The limits are maxRowsPerSite and maxRows.
	// The limit is maxSearchEngineRows. It applies to requests with the token of a large search engine
	// that are not verified.
	searchEngineRowLimit
)

// searchEngineTokens are the tokens of the large search engines.
var searchEngineTokens = sync.OnceValue(func() map[string]bool {
	tokens := make(map[string]bool)
	for _, c := range judge.SearchEngines() {
		tokens[c.Token] = true
	}
	return tokens
})

// rowLimit returns the limit on the number of rows that applies to the row.
func (k rowKey) rowLimit() rowLimit {
	switch {
	case k.token == judge.OtherName, k.identity == verify.Verified:
		return noRowLimit
	case searchEngineTokens()[k.token]:
		return searchEngineRowLimit
	}
	return ordinaryRowLimit
}

// getOrAddRow returns the row for the crawler of a request. The result is a shared row if a limit
// on the number of rows is reached, and a row without effect after the end of the trial.
func (t *trial) getOrAddRow(q *Request) *row {
	key := rowKey{q.Token, q.Class, q.Identity}
	if existing, ok := t.rows.Load(key); ok {
		return existing
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if existing, ok := t.rows.Load(key); ok {
		return existing
	}
	if t.ended {
		return new(row)
	}
	if key.token == judge.OtherName || !t.reserveRow(key, q.IsNamedInFile || q.Class == uaident.Search) {
		key = sharedRowKey(key)
	}
	key.token = strings.Clone(key.token)
	return t.rows.LoadOrStore(key, func() *row { return new(row) })
}

// sharedRowKey returns the key of the row that all crawlers without a row share. Search engines
// have a separate shared row.
func sharedRowKey(key rowKey) rowKey {
	if judge.IsSearchEngine(key.class, key.identity) {
		return rowKey{judge.OtherName, uaident.Search, verify.Unknown}
	}
	return rowKey{judge.OtherName, uaident.Other, verify.Unknown}
}

// reserveRow counts a new row and returns true, unless a limit is reached. A verified crawler always
// gets a row, because no client can invent a verified name. mayUseReserved is true if the crawler
// may have one of the reservedRowsPerSite. The caller must have locked t.mu.
func (t *trial) reserveRow(key rowKey, mayUseReserved bool) bool {
	switch key.rowLimit() {
	case searchEngineRowLimit:
		return incrementBelow(&t.trials.numSearchEngineRows, maxSearchEngineRows)
	case ordinaryRowLimit:
		if t.numRows >= maxRowsPerSite || !mayUseReserved && t.numUnreservedRows >= maxRowsPerSite-reservedRowsPerSite || !incrementBelow(&t.trials.numRows, maxRows) {
			return false
		}
		t.numRows++
		if !mayUseReserved {
			t.numUnreservedRows++
		}
	}
	return true
}

// incrementBelow increments n and returns true, unless n has reached limit.
func incrementBelow(n *atomic.Int32, limit int32) bool {
	if n.Add(1) > limit {
		n.Add(-1)
		return false
	}
	return true
}

// recordRequest counts a request of the crawler and records its page if the verdicts differ.
func (w *row) recordRequest(q *Request, now func() time.Time) {
	if q.Difference == Same {
		w.countByDifference[Same].Add(1)
		return
	}
	page := DifferingPage{text.Truncate(q.Host, maxHostBytes), text.Truncate(q.Target, maxTargetBytes), decidingLine(q.VerdictInForce), decidingLine(q.VerdictOnTrial)}
	at := now().UnixMilli()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.countByDifference[q.Difference].Add(1)
	w.pages[q.Difference-1].Add(page, 1, at, maxPagesPerDifference, DifferingPage.clone)
}

// decidingLine returns the deciding line of a verdict, with strings truncated to maxRuleBytes.
func decidingLine(v policy.Verdict) DecidingLine {
	v.Rule.Path = text.Truncate(v.Rule.Path, maxRuleBytes)
	return DecidingLine{v.Rule, text.Truncate(v.Group.Name, maxRuleBytes)}
}

// clone returns a copy that shares no memory with a request or a file.
func (p DifferingPage) clone() DifferingPage {
	for _, s := range []*string{&p.Host, &p.Path, &p.LineInForce.Rule.Path, &p.LineInForce.Group, &p.LineOnTrial.Rule.Path, &p.LineOnTrial.Group} {
		*s = strings.Clone(*s)
	}
	return p
}

// TrialResults has the results of the trial of one file at one site.
type TrialResults struct {
	Site   policy.Key // Site has no host if the site has several hosts.
	Label  string
	Source string
	Since  time.Time // Since is the start of the trial.
	// InForce and OnTrial are the SHA-256 of the files. InForce is zero if each host of the site has
	// its own file.
	InForce, OnTrial [sha256.Size]byte
	Rows             []CrawlerResults // Rows are in no particular order.
}

// CrawlerResults has the results of a trial for one crawler.
type CrawlerResults struct {
	Token             string
	Class             uaident.Class
	Identity          verify.State
	CountByDifference [NumDifferences]uint64 // CountByDifference has the number of requests by difference.
	// Pages are the pages that only one file allows, by difference except [Same].
	Pages [NumDifferences - 1][]spacesaving.Item[DifferingPage]
}

// Snapshot returns the results of all trials, sorted by site and file.
func (t *Trials) Snapshot() []TrialResults {
	var all []TrialResults
	for key, existing := range t.trialsByKey.All() {
		one := TrialResults{
			Site: key.site, Label: existing.label, Source: key.source, Since: existing.since,
			InForce: existing.inForce.hash, OnTrial: existing.onTrial.hash,
		}
		for key, row := range existing.rows.All() {
			one.Rows = append(one.Rows, row.snapshot(key))
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b TrialResults) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Site.UniqueString(), b.Site.UniqueString()), cmp.Compare(a.Source, b.Source))
	})
	return all
}

func (w *row) snapshot(key rowKey) CrawlerResults {
	one := CrawlerResults{Token: key.token, Class: key.class, Identity: key.identity}
	for d := range w.countByDifference {
		one.CountByDifference[d] = w.countByDifference[d].Load()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for d := range w.pages {
		one.Pages[d] = slices.Clone(w.pages[d].Items)
	}
	return one
}
