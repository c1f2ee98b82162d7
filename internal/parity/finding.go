package parity

import (
	"fmt"
	"time"
)

// What is a way in which answers belie a robots.txt.
type What string

// The ways.
const (
	// PagesRefused says that pages are refused that the file allows: 401, 403, 429.
	PagesRefused What = "pages_refused"
	// PagesFail says that a search engine gets 5xx for pages that the file allows.
	PagesFail What = "pages_fail"
	// RobotsFails says that the file itself is not served: 5xx and 429, after which
	// crawlers stay away, or 401 and 403, after which they take everything as allowed.
	RobotsFails What = "robots_fails"
	// RobotsWithheld says that a crawler gets something else instead of the file, see
	// [Withheld]. It needs no number of answers.
	RobotsWithheld What = "robots_withheld"
)

// Whats returns all ways.
func Whats() []What { return append(counted(), RobotsWithheld) }

// counted returns the ways that follow from numbers of answers.
func counted() []What { return []What{PagesRefused, PagesFail, RobotsFails} }

// rule is from when on answers are a finding. A few requests never are one.
type rule struct {
	kind     Kind
	bad      []Status
	searches bool   // it is one for search engines only
	least    uint64 // answers of the kind
	leastBad uint64
	percent  uint64 // of the answers of the kind
}

var rules = map[What]rule{
	PagesRefused: {Allowed, []Status{Refused, TooMany}, false, 20, 5, 10},
	PagesFail:    {Allowed, []Status{ServerError}, true, 20, 5, 5},
	RobotsFails:  {RobotsTxt, []Status{ServerError, TooMany, Refused}, false, 5, 4, 50},
}

// Finding is a way in which the answers to a crawler belie a robots.txt.
type Finding struct {
	What What
	// Since is the start of the first hour in which it was so, zero where that was not
	// asked for.
	Since time.Time
	// From is the start of what was looked at. Of is how many answers there were since
	// then to requests of that kind, and Bad how many of them say otherwise than the file.
	From    time.Time
	Of, Bad uint64
	// Most is the most frequent status of the bad ones.
	Most Status
}

// Percent returns the share of bad answers, rounded down.
func (f Finding) Percent() int { return int(100 * f.Bad / f.Of) }

// Says returns the finding in words, such as "34 % of the pages that it may fetch (51 of
// 150) refused, mostly by 401, 402, 403, 407 or 451".
func (f Finding) Says() string {
	return fmt.Sprintf(says[f.What], f.Percent(), f.Bad, f.Of, f.Most.codes())
}

var says = map[What]string{
	PagesRefused: "%d %% of the pages that it may fetch (%d of %d) refused, mostly by %s",
	PagesFail:    "%d %% of the pages that it may fetch (%d of %d) answered %[4]s",
	RobotsFails:  "/robots.txt not served in %d %% of its requests (%d of %d), mostly for %s",
}

// holds looks at counts. It reports whether they are a finding.
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

// shows reports whether the share of bad answers is large enough.
func (x rule) shows(bad, of uint64) bool { return 100*bad >= x.percent*of }

// Judge returns what is found in counts as a whole. search says whether the crawler is
// a search engine's.
func Judge(c Counts, search bool) (found []Finding) {
	for _, what := range counted() {
		f := Finding{What: what}
		if x := rules[what]; (search || !x.searches) && x.holds(&c, &f) {
			found = append(found, f)
		}
	}
	return found
}

// Step is what was counted in the hour that begins with At.
type Step struct {
	At time.Time
	Counts
}

// windows are what is looked at, in hours with the current one: the shortest that has
// enough answers, so that what is over ends and a slow crawler is seen at all.
var windows = [...]int{2, 6, 24}

// Find returns what is so now, by the hours that were counted, the earliest first.
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

// since sums up the steps from a time on.
func since(steps []Step, from time.Time) (sum Counts) {
	for _, s := range steps {
		if !s.At.Before(from) {
			sum.Add(s.Counts)
		}
	}
	return sum
}

// began returns the first of the last steps that all show it. Those without an answer
// say nothing.
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
