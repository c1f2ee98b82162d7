package report

import (
	"time"
)

// Robots is the view of one robots.txt. The filter must name its site.
type Robots struct {
	Head
	Health Health `json:"health"`
	// CountedSince is when counting the lines of the current version began.
	CountedSince time.Time `json:"counted_since,omitzero"`
	// Complete says that all lines that decided something are counted; of a
	// file with more than 4,096 such lines only the first are.
	Complete bool   `json:"complete"`
	Lines    []Line `json:"lines"`
	NeverHit int    `json:"never_hit"` // rules that never decided anything
	// Findings are those of the command lint. Unreported is how many more there
	// are in a file that is wrong all over.
	Findings []Finding `json:"findings"`
	// Licenses are the terms that License lines lead to, for the whole file; absent for
	// none. They forbid no fetching.
	Licenses   []string `json:"licenses,omitempty"`
	Unreported int      `json:"unreported"`
	// Versions are the current text and those before it, the newest first.
	Versions []Version `json:"versions"`
}

// Line is a line of the current text.
type Line struct {
	Line int      `json:"line"` // counted from 1
	Text string   `json:"text"`
	Kind LineKind `json:"kind"`
	// Hits is how many requests it decided, whatever the filter: as a rule, or
	// as the user-agent line by which a group was chosen.
	Hits uint64 `json:"hits"`
	// NeverHit marks a rule or user-agent line that never decided anything
	// since CountedSince.
	NeverHit bool      `json:"never_hit,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// LineKind is what a line of a robots.txt is.
type LineKind string

// The kinds.
const (
	KindAgent  LineKind = "user-agent"
	KindRule   LineKind = "rule"
	KindRecord LineKind = "record" // Sitemap, Crawl-delay and the like
	KindOther  LineKind = "other"  // a comment, blank or not understood
)

// Finding is something in a robots.txt that its owner should know.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // info, warning or error
	Line     int    `json:"line"`     // 0 where it is about the whole file
	Column   int    `json:"column"`   // in Unicode code points, counted from 1; 0 with line 0
	Message  string `json:"message"`
}

// Version is one text of a robots.txt.
type Version struct {
	Version   string    `json:"version"`
	Status    int       `json:"status"`
	Bytes     int       `json:"bytes"`
	Rules     int       `json:"rules"`
	FirstRead time.Time `json:"first_read"`
	LastRead  time.Time `json:"last_read"`
	Until     time.Time `json:"until,omitzero"` // absent for the current one
	Text      string    `json:"text"`
	// Diff is what changed from the version before; empty for the earliest.
	Diff []DiffLine `json:"diff"`
	// Rejudged are paths in the ledger that this version judges otherwise than
	// the one before. The ledger knows the paths of requests outside
	// robots.txt only.
	Rejudged []Rejudged `json:"rejudged"`
}

// DiffLine is a line of a difference.
type DiffLine struct {
	Op   string `json:"op"` // " " for a line of both, "-" for one of the version before, "+" for a new one
	Text string `json:"text"`
	Line int    `json:"line"` // in the version that has it, in the new one if both do
}

// Rejudged is a path that a change of the robots.txt judges otherwise.
type Rejudged struct {
	Token  string `json:"token"`
	Path   string `json:"path"`
	Before string `json:"before"` // allowed or disallowed
	After  string `json:"after"`
	Rule   string `json:"rule,omitempty"` // that decides now
	Line   int    `json:"line,omitempty"`
	Count  uint64 `json:"count"` // requests in the ledger
}
