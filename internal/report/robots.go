package report

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
)

// Robots shows the robots.txt of one site. The filter must select the site.
type Robots struct {
	ViewHeader
	Health RobotsHealth `json:"health"`
	// CountedSince is the time since which hits of the lines are counted.
	CountedSince time.Time `json:"counted_since,omitzero"`
	// HitsComplete reports whether Hits covers all lines that decided requests. At most 4,096 lines
	// are counted.
	HitsComplete  bool         `json:"complete"`
	Lines         []RobotsLine `json:"lines"`
	RulesNeverHit int          `json:"never_hit"` // RulesNeverHit is the number of rules without requests.
	// Findings are the findings of the command lint. UnlistedFindings is the number of further
	// findings, beyond the limit.
	Findings []lint.Finding `json:"findings"`
	// Licenses are the URLs of the License lines that apply to the whole file. They disallow
	// nothing.
	Licenses         []string `json:"licenses,omitempty"`
	UnlistedFindings int      `json:"unreported"`
	// Versions are the current and the previous versions, newest first.
	Versions []RobotsVersion `json:"versions"`
}

// RobotsLine is a line of the current robots.txt.
type RobotsLine struct {
	Line int      `json:"line"` // Line is counted from 1.
	Text string   `json:"text"`
	Kind LineKind `json:"kind"`
	// Hits is the number of requests that the line decided, whatever the filter. A User-agent line
	// counts the requests for which it selected the group.
	Hits uint64 `json:"hits"`
	// NeverHit reports whether the line is a rule or a User-agent line that has decided no request
	// since CountedSince.
	NeverHit bool           `json:"never_hit,omitempty"`
	Findings []lint.Finding `json:"findings,omitempty"`
}

// LineKind says what a line contains.
type LineKind string

// These are the kinds of lines.
const (
	KindAgent  LineKind = "user-agent"
	KindRule   LineKind = "rule"
	KindRecord LineKind = "record" // KindRecord is a Sitemap, Crawl-delay or other record.
	KindOther  LineKind = "other"  // KindOther is a comment, a blank line or an invalid line.
)

// RobotsVersion is one version of a site's robots.txt.
type RobotsVersion struct {
	Version      string    `json:"version"`
	Status       int       `json:"status"`
	Bytes        int       `json:"bytes"`
	Rules        int       `json:"rules"`
	FirstFetched time.Time `json:"first_read"`
	LastFetched  time.Time `json:"last_read"`
	ReplacedAt   time.Time `json:"until,omitzero"` // ReplacedAt is absent for the current version.
	Text         string    `json:"text"`
	// Diff has the lines that differ from the previous version, with up to three unchanged lines
	// before and after each. Diff is empty for the oldest stored version.
	Diff []DiffLine `json:"diff"`
	// ChangedVerdicts are requested paths for which the version and the previous version have
	// different verdicts, at most 50. Only paths of disallowed and stale requests are known.
	ChangedVerdicts []ChangedVerdict `json:"rejudged"`
}

// DiffLine is a line of a comparison of two versions.
type DiffLine struct {
	Op   string `json:"op"` // Op is " " for a common line, "-" for a removed line, and "+" for an added line.
	Text string `json:"text"`
	// Line is the line number: for a removed line in the old version, else in the new version.
	Line int `json:"line"`
}

// ChangedVerdict is a path for which two versions have different verdicts.
type ChangedVerdict struct {
	Token  string `json:"token"`
	Path   string `json:"path"`
	Before string `json:"before"` // Before is allowed or disallowed.
	After  string `json:"after"`
	Rule   string `json:"rule,omitempty"` // Rule is the new rule.
	Line   int    `json:"line,omitempty"`
	Count  uint64 `json:"count"` // Count is the number of requests in the ledger.
}
