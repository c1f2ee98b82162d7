package replay

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/diff"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// EditReport tells which requests of the logs an edit of a robots.txt changes the
// verdict of. docs/json.md documents the JSON that it makes, and [Report] the
// fields that both have.
type EditReport struct {
	Lines      uint64           `json:"lines"`
	Logs       []*LogReport     `json:"logs"`
	Malformed  uint64           `json:"malformed"`
	Examples   []Example        `json:"malformed_examples,omitempty"`
	Other      uint64           `json:"other"`
	OtherSite  uint64           `json:"other_site"`
	OtherTime  uint64           `json:"other_time"`
	Browsers   uint64           `json:"browsers"`
	Requests   uint64           `json:"requests"`
	Blocked    uint64           `json:"blocked"` // requests that were allowed and are not any more
	Opened     uint64           `json:"opened"`  // those that were not and are
	First      *time.Time       `json:"first"`
	Last       *time.Time       `json:"last"`
	Sites      []string         `json:"sites"`
	Hosts      []HostReport     `json:"hosts"`
	Crawlers   []ChangedCrawler `json:"crawlers"`
	Rules      []ChangedByRule  `json:"rules"`
	Paths      []ChangedPath    `json:"paths"`
	Notes      []string         `json:"notes"`
	Incomplete string           `json:"incomplete,omitempty"`

	read *Report
}

// ChangedCrawler is a crawler that requests change for.
type ChangedCrawler struct {
	Token    string `json:"token"`
	Class    string `json:"class"`
	Requests uint64 `json:"requests"` // all of them
	Blocked  uint64 `json:"blocked"`
	Opened   uint64 `json:"opened"`
}

// ChangedByRule is the rules that decide requests before and after the edit.
type ChangedByRule struct {
	Change   string         `json:"change"`   // blocked or opened
	OldRule  string         `json:"old_rule"` // "" for none
	OldLine  int            `json:"old_line"`
	NewRule  string         `json:"new_rule"`
	NewLine  int            `json:"new_line"`
	Requests uint64         `json:"requests"`
	Crawlers []RuleCrawlers `json:"crawlers"`

	rank int // of the class that is felt most
}

// ChangedPath is a path whose requests change. Excess is by how much Requests may
// be too high, as in [PathReport].
type ChangedPath struct {
	Path     string `json:"path"`
	Token    string `json:"token"`
	Change   string `json:"change"`
	Requests uint64 `json:"requests"`
	Excess   uint64 `json:"excess"`

	rank int
}

const (
	changeBlocked = "blocked"
	changeOpened  = "opened"
)

// Blocks tells how many requests of a class are allowed no more; of all classes
// if class is "".
func (r *EditReport) Blocks(class string) uint64 {
	var n uint64
	for _, c := range r.Crawlers {
		if class == "" || c.Class == class {
			n += c.Blocked
		}
	}
	return n
}

// fillEdit makes the report of an edit.
func (r *Report) fillEdit(p *plan, t *tally) {
	e := &EditReport{
		Lines: r.Lines, Logs: r.Logs, Malformed: r.Malformed, Examples: r.Examples, Other: r.Other, OtherSite: r.OtherSite, OtherTime: r.OtherTime,
		Browsers: r.Browsers, Requests: r.Requests, First: r.First, Last: r.Last, Sites: r.Sites, Hosts: r.Hosts, Notes: r.Notes,
		Crawlers: []ChangedCrawler{}, Rules: []ChangedByRule{}, Paths: []ChangedPath{}, read: r,
	}
	changes := t.changes
	for id, c := range changes.crawlers {
		if c.blocked+c.opened == 0 {
			continue
		}
		key := p.crawlers.key(int32(id))
		e.Crawlers = append(e.Crawlers, ChangedCrawler{key.name, key.class.String(), t.crawlers[id].requests, c.blocked, c.opened})
		e.Blocked += c.blocked
		e.Opened += c.opened
	}
	slices.SortFunc(e.Crawlers, func(a, b ChangedCrawler) int {
		return cmp.Or(cmp.Compare(diff.Rank(a.Class), diff.Rank(b.Class)), cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Opened, a.Opened),
			strings.Compare(a.Token, b.Token), strings.Compare(a.Class, b.Class))
	})
	e.fillRules(p, changes)
	e.fillPaths(p, changes)
	if changes.dropped > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%d requests are missing in the table of rules, which holds %d changes of a crawler.", changes.dropped, maxRules))
	}
	r.edit = e
}

func (r *EditReport) fillRules(p *plan, changes *changeTally) {
	type place struct {
		was, is int32
		blocked bool
	}
	rules := make(map[place]*ChangedByRule)
	for key, c := range changes.rules {
		at := place{key.was, key.is, key.blocked}
		rule := rules[at]
		crawler := p.crawlers.key(key.crawler)
		rank := diff.Rank(crawler.class.String())
		if rule == nil {
			rule = &ChangedByRule{
				Change: changeOf(key.blocked), OldRule: valid(c.was.String()), OldLine: c.was.Line,
				NewRule: valid(c.is.String()), NewLine: c.is.Line, rank: rank,
			}
			rules[at] = rule
		}
		rule.rank = min(rule.rank, rank)
		rule.Requests += c.count
		rule.Crawlers = append(rule.Crawlers, RuleCrawlers{Token: crawler.name, Requests: c.count})
	}
	for _, rule := range rules {
		slices.SortFunc(rule.Crawlers, func(a, b RuleCrawlers) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Token, b.Token))
		})
		rule.Crawlers = rule.Crawlers[:min(len(rule.Crawlers), ruleCrawlers)]
		r.Rules = append(r.Rules, *rule)
	}
	slices.SortFunc(r.Rules, func(a, b ChangedByRule) int {
		return cmp.Or(strings.Compare(a.Change, b.Change), cmp.Compare(a.rank, b.rank), cmp.Compare(b.Requests, a.Requests),
			cmp.Compare(a.OldLine, b.OldLine), cmp.Compare(a.NewLine, b.NewLine))
	})
	r.Rules = r.Rules[:min(len(r.Rules), reportedRules)]
}

func (r *EditReport) fillPaths(p *plan, changes *changeTally) {
	for _, e := range changes.paths.Items {
		crawler := p.crawlers.key(e.Key.crawler)
		r.Paths = append(r.Paths, ChangedPath{
			Path: valid(e.Key.path), Token: crawler.name, Change: changeOf(e.Key.blocked), Requests: e.Count, Excess: e.Error,
			rank: diff.Rank(crawler.class.String()),
		})
	}
	slices.SortStableFunc(r.Paths, func(a, b ChangedPath) int {
		return cmp.Or(strings.Compare(a.Change, b.Change), cmp.Compare(a.rank, b.rank), cmp.Compare(b.Requests, a.Requests),
			strings.Compare(a.Path, b.Path), strings.Compare(a.Token, b.Token))
	})
	r.Paths = r.Paths[:min(len(r.Paths), reportedPaths)]
}

func changeOf(blocked bool) string {
	if blocked {
		return changeBlocked
	}
	return changeOpened
}

// WriteTable writes the report for reading in a terminal, the longer lists cut.
func (r *EditReport) WriteTable(w io.Writer) error {
	t := tables{w: w}
	t.logs(r.read)
	t.say("\n%s. The edit blocks %d and opens %d of them.\n", r.read.counted(), r.Blocked, r.Opened)
	if len(r.Crawlers) > 0 {
		t.say("\n")
		t.table("CRAWLER", "CLASS", "REQUESTS", "BLOCKED", "OPENED")
		for _, c := range r.Crawlers[:min(len(r.Crawlers), tableCrawlers)] {
			t.row(c.Token, c.Class, c.Requests, c.Blocked, c.Opened)
		}
		t.more(len(r.Crawlers), tableCrawlers)

		t.say("\n")
		t.table("CHANGE", "BEFORE", "NOW", "REQUESTS", "CRAWLERS")
		for _, rule := range r.Rules[:min(len(r.Rules), tableRules)] {
			t.row(rule.Change, decidedBy(rule.OldRule, rule.OldLine), decidedBy(rule.NewRule, rule.NewLine), rule.Requests, who(rule.Crawlers, 3))
		}
		t.more(len(r.Rules), tableRules)

		t.say("\n")
		t.table("PATH", "CRAWLER", "CHANGE", "REQUESTS")
		for _, p := range r.Paths[:min(len(r.Paths), tablePaths)] {
			t.row(text.Short(text.Printable(p.Path), tablePath), p.Token, p.Change, countText(p.Requests, p.Excess))
		}
		t.more(len(r.Paths), tablePaths)
	}
	t.say("%s", endText(r.Examples, r.Notes, r.Incomplete))
	return t.err
}

// decidedBy names the rule that decided.
func decidedBy(rule string, line int) string {
	if line == 0 {
		return "no rule"
	}
	return fmt.Sprintf("%s (line %d)", text.Short(text.Printable(rule), tablePath), line)
}
