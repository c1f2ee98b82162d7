package report

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
)

// Robots is the view of a robots.txt. The filter must contain its site.
type Robots struct {
	ViewHeader
	Health Health `json:"health"`
	// CountedSince is the time since which the lines of the current version are counted.
	CountedSince time.Time `json:"counted_since,omitzero"`
	// HitsComplete reports whether Hits has all lines that decided requests. The maximum is 4,096
	// lines.
	HitsComplete  bool   `json:"complete"`
	Lines         []Line `json:"lines"`
	RulesNeverHit int    `json:"never_hit"` // rules without requests
	// Findings are the findings of the command lint. UnlistedFindings is the number of findings
	// beyond the limit.
	Findings []lint.Finding `json:"findings"`
	// Licenses are the URLs of License lines for the whole file. They disallow nothing.
	Licenses         []string `json:"licenses,omitempty"`
	UnlistedFindings int      `json:"unreported"`
	// Versions are the current and previous versions, newest first.
	Versions []Version `json:"versions"`
}

// Line is a line of the current version.
type Line struct {
	Line int      `json:"line"` // from 1
	Text string   `json:"text"`
	Kind LineKind `json:"kind"`
	// Hits is the number of decided requests for any filter. A user-agent line decides by
	// selecting the group.
	Hits uint64 `json:"hits"`
	// RulesNeverHit marks a rule or user-agent line without hits since CountedSince.
	NeverHit bool           `json:"never_hit,omitempty"`
	Findings []lint.Finding `json:"findings,omitempty"`
}

// LineKind is the kind of a line.
type LineKind string

// The kinds.
const (
	KindAgent  LineKind = "user-agent"
	KindRule   LineKind = "rule"
	KindRecord LineKind = "record" // Sitemap, Crawl-delay and other records
	KindOther  LineKind = "other"  // comment, blank or invalid
)

// Version is a version of a robots.txt.
type Version struct {
	Version      string    `json:"version"`
	Status       int       `json:"status"`
	Bytes        int       `json:"bytes"`
	Rules        int       `json:"rules"`
	FirstFetched time.Time `json:"first_read"`
	LastFetched  time.Time `json:"last_read"`
	GraceUntil   time.Time `json:"until,omitzero"` // absent for the current version
	Text         string    `json:"text"`
	// Diff is the difference from the previous version, empty for the oldest version.
	Diff []DiffLine `json:"diff"`
	// ChangedVerdicts are paths with another verdict than in the previous version. The ledger
	// contains paths of disallowed requests only.
	ChangedVerdicts []ChangedVerdict `json:"rejudged"`
}

// DiffLine is a line of a difference.
type DiffLine struct {
	Op   string `json:"op"` // " " for a common line, "-" for a removed line, "+" for an added line
	Text string `json:"text"`
	Line int    `json:"line"` // in the new version, except for a removed line
}

// ChangedVerdict is a path whose verdict differs between two versions.
type ChangedVerdict struct {
	Token   string `json:"token"`
	Path    string `json:"path"`
	Before  string `json:"before"` // allowed or disallowed
	After   string `json:"after"`
	NewRule string `json:"rule,omitempty"` // the new rule
	Line    int    `json:"line,omitempty"`
	Count   uint64 `json:"count"` // requests in the ledger
}
