package responseaudit

import (
	"fmt"
	"time"
)

// FindingKind is a kind of contradiction between a robots.txt and the responses to a crawler.
type FindingKind string

// The kinds of contradictions.
const (
	// PagesRefused means that a crawler is refused pages that the robots.txt allows, with 401, 402,
	// 403, 407, 429 or 451.
	PagesRefused FindingKind = "pages_refused"
	// PagesFail means that a search engine gets 5xx for pages that the robots.txt allows.
	PagesFail FindingKind = "pages_fail"
	// RobotsFails means that the robots.txt itself is refused or fails. After 5xx and 429 crawlers
	// stay away, after 401 and 403 they take everything as allowed.
	RobotsFails FindingKind = "robots_fails"
	// RobotsWithheld means that a crawler gets another response instead of the robots.txt, see
	// [WithheldFinding]. RobotsWithheld does not depend on counts.
	RobotsWithheld FindingKind = "robots_withheld"
)

// FindingKinds returns all kinds of contradictions.
func FindingKinds() []FindingKind { return append(thresholdFindingKinds(), RobotsWithheld) }

// thresholdFindingKinds returns the kinds that depend on the numbers of responses.
func thresholdFindingKinds() []FindingKind {
	return []FindingKind{PagesRefused, PagesFail, RobotsFails}
}

// threshold says how many responses must contradict the robots.txt before this is a finding. A few
// requests are never enough.
type threshold struct {
	kind              RequestKind
	badStatuses       []StatusClass
	searchEnginesOnly bool   // searchEnginesOnly is true if only search engines can have the finding.
	minTotal          uint64 // minTotal is the minimum number of responses of the kind.
	minContradicting  uint64
	minPercent        uint64 // minPercent is the minimum percentage of these responses that must contradict.
}

var thresholds = map[FindingKind]threshold{
	PagesRefused: {KindAllowed, []StatusClass{StatusRefused, StatusTooManyRequests}, false, 20, 5, 10},
	PagesFail:    {KindAllowed, []StatusClass{StatusServerError}, true, 20, 5, 5},
	RobotsFails:  {KindRobotsTxt, []StatusClass{StatusServerError, StatusTooManyRequests, StatusRefused}, false, 5, 4, 50},
}

// Finding is a contradiction between the robots.txt and many of the responses to a crawler.
type Finding struct {
	Kind FindingKind
	// Since is the start of the first hour with the contradiction, or zero if unknown.
	Since time.Time
	// CountedSince is the start of counting. Total is the number of responses to requests of the
	// kind that can contradict. Contradicting is the number of those that do.
	CountedSince         time.Time
	Total, Contradicting uint64
	// MostFrequent is the most frequent status of the contradicting responses.
	MostFrequent StatusClass
}

// Percent returns Contradicting as a percentage of Total, rounded down.
func (f Finding) Percent() int { return int(100 * f.Contradicting / f.Total) }

// Description describes the finding, such as "34 % of the allowed pages (51 of 150) were refused,
// mostly with status 401, 402, 403, 407 or 451".
func (f Finding) Description() string {
	return fmt.Sprintf(descriptions[f.Kind], f.Percent(), f.Contradicting, f.Total, f.MostFrequent.describeCodes())
}

var descriptions = map[FindingKind]string{
	PagesRefused: "%d %% of the allowed pages (%d of %d) were refused, mostly with status %s",
	PagesFail:    "%d %% of the allowed pages (%d of %d) failed with status %[4]s",
	RobotsFails:  "%d %% of the requests for /robots.txt (%d of %d) failed, mostly with status %s",
}

// evaluate sets Total, Contradicting and MostFrequent of f from c, and reports whether the numbers
// reach the threshold.
func (x threshold) evaluate(c *ResponseCounts, f *Finding) bool {
	f.Total, f.Contradicting = c.KindTotal(x.kind), 0
	for i, status := range x.badStatuses {
		n := c.ByKindAndStatus[x.kind][status]
		f.Contradicting += n
		if i == 0 || n > c.ByKindAndStatus[x.kind][f.MostFrequent] {
			f.MostFrequent = status
		}
	}
	return f.Total >= x.minTotal && f.Contradicting >= x.minContradicting && x.reachesMinPercent(f.Contradicting, f.Total)
}

// reachesMinPercent reports whether the contradicting responses are at least minPercent of the
// total.
func (x threshold) reachesMinPercent(contradicting, total uint64) bool {
	return 100*contradicting >= x.minPercent*total
}

// FindInTotalCounts returns the contradictions in the responses to a crawler, without their start.
// search reports whether the crawler belongs to a search engine.
func FindInTotalCounts(c ResponseCounts, search bool) (found []Finding) {
	for _, what := range thresholdFindingKinds() {
		f := Finding{Kind: what}
		if x := thresholds[what]; (search || !x.searchEnginesOnly) && x.evaluate(&c, &f) {
			found = append(found, f)
		}
	}
	return found
}

// HourCounts are the responses to a crawler in the hour that begins at Start.
type HourCounts struct {
	Start time.Time
	ResponseCounts
}

// windowHours are lengths of time in hours, including the current hour. The shortest window with
// enough responses is used. So findings end soon, and slow crawlers are covered.
var windowHours = [...]int{2, 6, 24}

// FindCurrent returns the contradictions in the most recent responses to a crawler. hours must be
// in order of time. search reports whether the crawler belongs to a search engine.
func FindCurrent(hours []HourCounts, search bool, now time.Time) (found []Finding) {
	for _, what := range thresholdFindingKinds() {
		x := thresholds[what]
		if x.searchEnginesOnly && !search {
			continue
		}
		for _, window := range windowHours {
			f := Finding{Kind: what, CountedSince: now.UTC().Truncate(time.Hour).Add(-time.Duration(window-1) * time.Hour)}
			sum := sumSince(hours, f.CountedSince)
			if sum.KindTotal(x.kind) < x.minTotal {
				continue
			}
			if x.evaluate(&sum, &f) {
				f.Since = x.findStartTime(hours)
				found = append(found, f)
			}
			break
		}
	}
	return found
}

// sumSince returns the sum of the hours that begin at from or later.
func sumSince(hours []HourCounts, from time.Time) (sum ResponseCounts) {
	for _, s := range hours {
		if !s.Start.Before(from) {
			sum.Add(s.ResponseCounts)
		}
	}
	return sum
}

// findStartTime returns the start of the contradiction: the first of the last consecutive hours
// that have it. Hours without responses are skipped.
func (x threshold) findStartTime(hours []HourCounts) (start time.Time) {
	for i := len(hours) - 1; i >= 0; i-- {
		of, bad := hours[i].KindTotal(x.kind), uint64(0)
		for _, status := range x.badStatuses {
			bad += hours[i].ByKindAndStatus[x.kind][status]
		}
		switch {
		case of == 0:
		case bad > 0 && x.reachesMinPercent(bad, of):
			start = hours[i].Start
		case !start.IsZero():
			return start
		}
	}
	return start
}
