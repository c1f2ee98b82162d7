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

// Bounds of rows and pages. A site has at most maxOthers rows of crawlers other than the large
// search engines. Of these, reservedRows are for crawlers named by a file and for other search
// engines. All sites together have at most maxAllOthers such rows, and maxEngines rows of large
// search engines. A row has maxPages pages for each difference, about 20 KB.
const (
	maxOthers    = 40
	reservedRows = 12
	maxAllOthers = 1500
	maxEngines   = 1500
	maxPages     = 16
)

// Bounds of the strings of a request, in bytes.
const (
	maxTarget = 200
	maxRule   = 160
	maxHost   = 260
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

	mu    sync.Mutex                                            // guards the fields below
	pages [NumDifferences - 1]spacesaving.Sketch[DifferingPage] // of all differences but [Same]
}

// DifferingPage is a page about which the file in force and the file on trial have different
// verdicts, with the deciding line of each file.
type DifferingPage struct {
	Host                     string // if the site has several hosts
	Path                     string
	LineInForce, LineOnTrial DecidingLine
}

// DecidingLine is the line of a file that decides about a request. The rule is zero if no rule
// decides, and the group is "" if no group is for the crawler.
type DecidingLine struct {
	Rule  policy.Rule
	Group string
}

// rowLimitKind says which limit on the number of rows applies to a row.
type rowLimitKind uint8

const (
	unlimitedRows    rowLimitKind = iota // the shared row, and verified crawlers
	limitedRows                          // any other crawler
	searchEngineRows                     // a large search engine, perhaps spoofed
)

// searchEngineTokens are the tokens of the large search engines.
var searchEngineTokens = sync.OnceValue(func() map[string]bool {
	tokens := make(map[string]bool)
	for _, c := range judge.SearchEngines() {
		tokens[c.Token] = true
	}
	return tokens
})

// limitKind returns which limit on the number of rows applies to the row.
func (k rowKey) limitKind() rowLimitKind {
	switch {
	case k.token == judge.OtherName, k.identity == verify.Verified:
		return unlimitedRows
	case searchEngineTokens()[k.token]:
		return searchEngineRows
	}
	return limitedRows
}

// getOrAddRow returns the row for the crawler of a request, or the shared row if there is no room
// for another row.
func (t *trial) getOrAddRow(q *Request) *row {
	key := rowKey{q.Token, q.Class, q.Identity}
	if known, ok := t.rows.Load(key); ok {
		return known
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.rows.Load(key); ok {
		return known
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

// sharedRowKey returns the key of the row that crawlers without a row share. Search engines share
// another row.
func sharedRowKey(key rowKey) rowKey {
	if judge.IsSearchEngine(key.class, key.identity) {
		return rowKey{judge.OtherName, uaident.Search, verify.Unknown}
	}
	return rowKey{judge.OtherName, uaident.Other, verify.Unknown}
}

// reserveRow counts a new row and returns true if there is room for it. A verified crawler always
// gets a row, because no client can invent a verified name. reserved is true if the crawler may use
// the reserved rows. The caller must have locked t.mu.
func (t *trial) reserveRow(key rowKey, reserved bool) bool {
	switch key.limitKind() {
	case searchEngineRows:
		return incrementBelow(&t.trials.engineRows, maxEngines)
	case limitedRows:
		if t.otherRows >= maxOthers || !reserved && t.unnamedRows >= maxOthers-reservedRows || !incrementBelow(&t.trials.otherRows, maxAllOthers) {
			return false
		}
		t.otherRows++
		if !reserved {
			t.unnamedRows++
		}
	}
	return true
}

// incrementBelow increments n and returns true, unless n has reached most.
func incrementBelow(n *atomic.Int32, most int32) bool {
	if n.Add(1) > most {
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
	page := DifferingPage{text.Truncate(q.Host, maxHost), text.Truncate(q.Target, maxTarget), decidingLine(q.VerdictInForce), decidingLine(q.VerdictOnTrial)}
	at := now().UnixMilli()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.countByDifference[q.Difference].Add(1)
	w.pages[q.Difference-1].Add(page, 1, at, maxPages, DifferingPage.clone)
}

// decidingLine returns the deciding line of a verdict, with its texts cut to maxRule bytes.
func decidingLine(v policy.Verdict) DecidingLine {
	v.Rule.Path = text.Truncate(v.Rule.Path, maxRule)
	return DecidingLine{v.Rule, text.Truncate(v.Group.Name, maxRule)}
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
	Site   policy.Key // without a host if the site has several
	Label  string
	Source string
	Since  time.Time
	// InForce and OnTrial are the SHA-256 of the files. InForce is zero if each host of the site has
	// its own file.
	InForce, OnTrial [sha256.Size]byte
	Rows             []CrawlerResults // in no particular order
}

// CrawlerResults has the results of a trial for one crawler.
type CrawlerResults struct {
	Token             string
	Class             uaident.Class
	Identity          verify.State
	CountByDifference [NumDifferences]uint64 // requests by difference
	// Pages are the pages for which the files differ, by difference except [Same].
	Pages [NumDifferences - 1][]spacesaving.Item[DifferingPage]
}

// Snapshot returns the results of all trials, sorted by site and file.
func (t *Trials) Snapshot() []TrialResults {
	var all []TrialResults
	for key, known := range t.trialsByKey.All() {
		one := TrialResults{
			Site: key.site, Label: known.label, Source: key.source, Since: known.since,
			InForce: known.inForce.hash, OnTrial: known.onTrial.hash,
		}
		for key, row := range known.rows.All() {
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
