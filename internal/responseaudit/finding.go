package responseaudit

import (
	"fmt"
	"time"
)

// FindingKind is a kind of contradiction.
type FindingKind string

// The kinds of contradictions.
const (
	// PagesRefused: pages that the file allows are refused with 401, 403 or 429.
	PagesRefused FindingKind = "pages_refused"
	// PagesFail: a search engine gets 5xx for allowed pages.
	PagesFail FindingKind = "pages_fail"
	// RobotsFails: the file itself is not served. After 5xx and 429 crawlers stay away, after
	// 401 and 403 they take everything as allowed.
	RobotsFails FindingKind = "robots_fails"
	// RobotsWithheld: a crawler gets another response instead of the file, see [Withheld]. It
	// does not depend on counts.
	RobotsWithheld FindingKind = "robots_withheld"
)

// FindingKinds returns all kinds of contradictions.
func FindingKinds() []FindingKind { return append(countedKinds(), RobotsWithheld) }

// countedKinds returns the kinds with a threshold for counts.
func countedKinds() []FindingKind { return []FindingKind{PagesRefused, PagesFail, RobotsFails} }

// threshold is the threshold of a contradiction. A few requests are never enough.
type threshold struct {
	kind             Kind
	badStatuses      []Status
	searchOnly       bool   // for search engines only
	minTotal         uint64 // responses of the kind
	minContradicting uint64
	minPercent       uint64 // of the responses of the kind
}

var thresholds = map[FindingKind]threshold{
	PagesRefused: {KindAllowed, []Status{StatusRefused, StatusTooManyRequests}, false, 20, 5, 10},
	PagesFail:    {KindAllowed, []Status{StatusServerError}, true, 20, 5, 5},
	RobotsFails:  {KindRobotsTxt, []Status{StatusServerError, StatusTooManyRequests, StatusRefused}, false, 5, 4, 50},
}

// Finding is a contradiction.
type Finding struct {
	Kind FindingKind
	// Since is the start of the first hour with the contradiction, or zero if unknown.
	Since time.Time
	// CountedSince is the start of counting. Total is the number of responses of the kind, and Contradicting the
	// number of contradicting responses.
	CountedSince         time.Time
	Total, Contradicting uint64
	// MostFrequent is the most frequent status of the contradicting responses.
	MostFrequent Status
}

// Percent returns the share of contradicting responses, rounded down.
func (f Finding) Percent() int { return int(100 * f.Contradicting / f.Total) }

// Description describes the finding, such as "34 % of the pages that it may fetch (51 of 150)
// refused, mostly by 401, 402, 403, 407 or 451".
func (f Finding) Description() string {
	return fmt.Sprintf(descriptions[f.Kind], f.Percent(), f.Contradicting, f.Total, f.MostFrequent.codes())
}

var descriptions = map[FindingKind]string{
	PagesRefused: "%d %% of the pages that it may fetch (%d of %d) refused, mostly by %s",
	PagesFail:    "%d %% of the pages that it may fetch (%d of %d) answered %[4]s",
	RobotsFails:  "/robots.txt not served in %d %% of its requests (%d of %d), mostly for %s",
}

// isExceeded sets the numbers of f, and reports whether the threshold is exceeded.
func (x threshold) isExceeded(c *Counts, f *Finding) bool {
	f.Total, f.Contradicting = c.Sum(x.kind), 0
	for i, status := range x.badStatuses {
		n := c.ByKindAndStatus[x.kind][status]
		f.Contradicting += n
		if i == 0 || n > c.ByKindAndStatus[x.kind][f.MostFrequent] {
			f.MostFrequent = status
		}
	}
	return f.Total >= x.minTotal && f.Contradicting >= x.minContradicting && x.isShareReached(f.Contradicting, f.Total)
}

// isShareReached reports whether the share of contradicting responses is large enough.
func (x threshold) isShareReached(bad, of uint64) bool { return 100*bad >= x.minPercent*of }

// FindInTotals returns the contradictions in total counts. search reports whether the crawler is a
// search engine's.
func FindInTotals(c Counts, search bool) (found []Finding) {
	for _, what := range countedKinds() {
		f := Finding{Kind: what}
		if x := thresholds[what]; (search || !x.searchOnly) && x.isExceeded(&c, &f) {
			found = append(found, f)
		}
	}
	return found
}

// HourCounts is the counts of the hour that begins at At.
type HourCounts struct {
	At time.Time
	Counts
}

// windows are lengths of time in hours, including the current hour. The shortest window with
// enough responses is used. So findings end soon, and slow crawlers are covered.
var windows = [...]int{2, 6, 24}

// Find returns the current contradictions. steps must be in order of time.
func Find(steps []HourCounts, search bool, now time.Time) (found []Finding) {
	for _, what := range countedKinds() {
		x := thresholds[what]
		if x.searchOnly && !search {
			continue
		}
		for _, hours := range windows {
			f := Finding{Kind: what, CountedSince: now.UTC().Truncate(time.Hour).Add(-time.Duration(hours-1) * time.Hour)}
			sum := sumSince(steps, f.CountedSince)
			if sum.Sum(x.kind) < x.minTotal {
				continue
			}
			if x.isExceeded(&sum, &f) {
				f.Since = x.startTime(steps)
				found = append(found, f)
			}
			break
		}
	}
	return found
}

// sumSince returns the sum of the steps from a time on.
func sumSince(steps []HourCounts, from time.Time) (sum Counts) {
	for _, s := range steps {
		if !s.At.Before(from) {
			sum.Add(s.Counts)
		}
	}
	return sum
}

// startTime returns the first of the consecutive last steps with the contradiction. Steps without
// responses are skipped.
func (x threshold) startTime(steps []HourCounts) (at time.Time) {
	for i := len(steps) - 1; i >= 0; i-- {
		of, bad := steps[i].Sum(x.kind), uint64(0)
		for _, status := range x.badStatuses {
			bad += steps[i].ByKindAndStatus[x.kind][status]
		}
		switch {
		case of == 0:
		case bad > 0 && x.isShareReached(bad, of):
			at = steps[i].At
		case !at.IsZero():
			return at
		}
	}
	return at
}
