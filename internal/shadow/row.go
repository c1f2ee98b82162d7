package shadow

import (
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

// Bounds of rows: of crawlers other than the great search engines at one site, some of
// them for those that a text names and for other search engines; of those and of the
// great ones at all sites; and of the pages of each row and difference. A row takes at
// most some 20 KB.
const (
	maxOthers    = 40
	reservedRows = 12
	maxAllOthers = 1500
	maxEngines   = 1500
	maxPages     = 16
)

// Bounds of what is kept of a request, in bytes.
const (
	maxTarget = 200
	maxRule   = 160
	maxHost   = 260
)

// rowKey tells rows apart.
type rowKey struct {
	token    string
	class    uaident.Class
	identity verify.State
}

// row is what is known of one crawler at a site.
type row struct {
	judged [NumDifferences]atomic.Uint64

	mu    sync.Mutex                                   // guards what follows
	pages [NumDifferences - 1]spacesaving.Sketch[Page] // of all differences but [Same]
}

// Page is a page about which the texts differ, with the lines that decide.
type Page struct {
	Host       string // where the site stands for several
	Path       string
	Was, Would Line
}

// Line is what decides about a page in a text. Its rule is the zero Rule where none
// does, and its group "" where none is for the crawler.
type Line struct {
	Rule  policy.Rule
	Group string
}

// kind is which room a row takes.
type kind uint8

const (
	ofNobody  kind = iota // of those for whom there is no other row; and of those that cannot be invented
	ofOthers              // of any other crawler
	ofEngines             // of one of the great search engines, or who says so
)

// engines are the tokens of the great search engines.
var engines = sync.OnceValue(func() map[string]bool {
	tokens := make(map[string]bool)
	for _, c := range judge.SearchEngines() {
		tokens[c.Token] = true
	}
	return tokens
})

func (k rowKey) kind() kind {
	switch {
	case k.token == judge.OtherName, k.identity == verify.Verified:
		return ofNobody
	case engines()[k.token]:
		return ofEngines
	}
	return ofOthers
}

// row returns the row of the crawler of a request, or the one that it shares with all
// for whom there is no room.
func (t *trial) row(q *Request) *row {
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
	if key.token == judge.OtherName || !t.room(key, q.Named || q.Class == uaident.Search) {
		key = sharedKey(key)
	}
	key.token = strings.Clone(key.token)
	return t.rows.LoadOrStore(key, func() *row { return new(row) })
}

// sharedKey is that of the row of all crawlers without one: search engines have one
// of their own.
func sharedKey(key rowKey) rowKey {
	if judge.IsSearchEngine(key.class, key.identity) {
		return rowKey{judge.OtherName, uaident.Search, verify.Unknown}
	}
	return rowKey{judge.OtherName, uaident.Other, verify.Unknown}
}

// room reports whether a crawler gets a row of its own, and takes the room. What is
// verified always does: nobody can invent it. t.mu must be held.
func (t *trial) room(key rowKey, reserved bool) bool {
	switch key.kind() {
	case ofEngines:
		return take(&t.of.engines, maxEngines)
	case ofOthers:
		if t.others >= maxOthers || !reserved && t.unnamed >= maxOthers-reservedRows || !take(&t.of.others, maxAllOthers) {
			return false
		}
		t.others++
		if !reserved {
			t.unnamed++
		}
	}
	return true
}

// take counts another one unless there are so many.
func take(n *atomic.Int32, most int32) bool {
	if n.Add(1) > most {
		n.Add(-1)
		return false
	}
	return true
}

// note counts a request.
func (w *row) note(q *Request, now func() time.Time) {
	if q.Difference == Same {
		w.judged[Same].Add(1)
		return
	}
	page := Page{text.Cut(q.Host, maxHost), text.Cut(q.Target, maxTarget), lineOf(q.Was), lineOf(q.Would)}
	at := now().UnixMilli()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.judged[q.Difference].Add(1)
	w.pages[q.Difference-1].Add(page, 1, at, maxPages, Page.own)
}

// lineOf returns the evidence of a verdict in short.
func lineOf(v policy.Verdict) Line {
	v.Rule.Path = text.Cut(v.Rule.Path, maxRule)
	return Line{v.Rule, text.Cut(v.Group.Name, maxRule)}
}

// own returns a page that shares no memory with requests and texts.
func (p Page) own() Page {
	for _, s := range []*string{&p.Host, &p.Path, &p.Was.Rule.Path, &p.Was.Group, &p.Would.Rule.Path, &p.Would.Group} {
		*s = strings.Clone(*s)
	}
	return p
}
