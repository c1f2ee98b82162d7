package parity

import (
	"fmt"
	"time"
)

// What is a kind of contradiction.
type What string

// The kinds of contradictions.
const (
	// PagesRefused: pages that the file allows are refused with 401, 403 or 429.
	PagesRefused What = "pages_refused"
	// PagesFail: a search engine gets 5xx for allowed pages.
	PagesFail What = "pages_fail"
	// RobotsFails: the file itself is not served. After 5xx and 429 crawlers stay away, after
	// 401 and 403 they take everything as allowed.
	RobotsFails What = "robots_fails"
	// RobotsWithheld: a crawler gets another response instead of the file, see [Withheld]. It
	// does not depend on counts.
	RobotsWithheld What = "robots_withheld"
)

// Whats returns all kinds of contradictions.
func Whats() []What { return append(counted(), RobotsWithheld) }

// counted returns the kinds that depend on counts.
func counted() []What { return []What{PagesRefused, PagesFail, RobotsFails} }

// rule is the threshold of a contradiction. A few requests are never enough.
type rule struct {
	kind     Kind
	bad      []Status
	searches bool   // for search engines only
	least    uint64 // responses of the kind
	leastBad uint64
	percent  uint64 // of the responses of the kind
}

var rules = map[What]rule{
	PagesRefused: {Allowed, []Status{Refused, TooMany}, false, 20, 5, 10},
	PagesFail:    {Allowed, []Status{ServerError}, true, 20, 5, 5},
	RobotsFails:  {RobotsTxt, []Status{ServerError, TooMany, Refused}, false, 5, 4, 50},
}

// Finding is a contradiction.
type Finding struct {
	What What
	// Since is the start of the first hour with the contradiction. It is zero if unknown.
	Since time.Time
	// From is the start of the counted time. Of is the number of responses of the kind, and
	// Bad the number of contradicting responses.
	From    time.Time
	Of, Bad uint64
	// Most is the most frequent status of the contradicting responses.
	Most Status
}

// Percent returns the share of contradicting responses, rounded down.
func (f Finding) Percent() int { return int(100 * f.Bad / f.Of) }

// Says describes the finding, such as "34 % of the pages that it may fetch (51 of 150)
// refused, mostly by 401, 402, 403, 407 or 451".
func (f Finding) Says() string {
	return fmt.Sprintf(says[f.What], f.Percent(), f.Bad, f.Of, f.Most.codes())
}

var says = map[What]string{
	PagesRefused: "%d %% of the pages that it may fetch (%d of %d) refused, mostly by %s",
	PagesFail:    "%d %% of the pages that it may fetch (%d of %d) answered %[4]s",
	RobotsFails:  "/robots.txt not served in %d %% of its requests (%d of %d), mostly for %s",
}

// holds sets the counts of f. It reports whether they exceed the threshold.
func (x rule) holds(c *Counts, f *Finding) bool {
	f.Of, f.Bad = c.Of(x.kind), 0
	for i, status := range x.bad {
		n := c.By[x.kind][status]
		f.Bad += n
		if i == 0 || n > c.By[x.kind][f.Most] {
			f.Most = status
		}
	}
	return f.Of >= x.least && f.Bad >= x.leastBad && x.shows(f.Bad, f.Of)
}

// shows reports whether the share of contradicting responses is large enough.
func (x rule) shows(bad, of uint64) bool { return 100*bad >= x.percent*of }

// Judge returns the contradictions in total counts. search reports whether the crawler is a
// search engine's.
func Judge(c Counts, search bool) (found []Finding) {
	for _, what := range counted() {
		f := Finding{What: what}
		if x := rules[what]; (search || !x.searches) && x.holds(&c, &f) {
			found = append(found, f)
		}
	}
	return found
}

// Step is the counts of the hour that begins at At.
type Step struct {
	At time.Time
	Counts
}

// windows are lengths of time in hours, including the current hour. The shortest window with
// enough responses is used. So findings end soon, and slow crawlers are covered.
var windows = [...]int{2, 6, 24}

// Find returns the current contradictions. steps must be in order of time.
func Find(steps []Step, search bool, now time.Time) (found []Finding) {
	for _, what := range counted() {
		x := rules[what]
		if x.searches && !search {
			continue
		}
		for _, hours := range windows {
			f := Finding{What: what, From: now.UTC().Truncate(time.Hour).Add(-time.Duration(hours-1) * time.Hour)}
			sum := since(steps, f.From)
			if sum.Of(x.kind) < x.least {
				continue
			}
			if x.holds(&sum, &f) {
				f.Since = x.began(steps)
				found = append(found, f)
			}
			break
		}
	}
	return found
}

// since returns the sum of the steps from a time on.
func since(steps []Step, from time.Time) (sum Counts) {
	for _, s := range steps {
		if !s.At.Before(from) {
			sum.Add(s.Counts)
		}
	}
	return sum
}

// began returns the first of the consecutive last steps with the contradiction. Steps without
// responses are skipped.
func (x rule) began(steps []Step) (at time.Time) {
	for i := len(steps) - 1; i >= 0; i-- {
		of, bad := steps[i].Of(x.kind), uint64(0)
		for _, status := range x.bad {
			bad += steps[i].By[x.kind][status]
		}
		switch {
		case of == 0:
		case bad > 0 && x.shows(bad, of):
			at = steps[i].At
		case !at.IsZero():
			return at
		}
	}
	return at
}
