package report

import (
	"time"
)

// Evidence is the data about one crawler for its operator or an abuse desk.
// [Evidence.WriteText] formats it as text.
type Evidence struct {
	Head
	Crawler Crawler `json:"crawler"`
	// Requests are sample requests, oldest first. The ledger stores the last few of each
	// crawler.
	Requests []Sample       `json:"requests_outside"`
	Rules    []RuleCount    `json:"rules"`
	Paths    []Violation    `json:"paths"`
	Readings []Reading      `json:"readings"` // last robots fetch at each site
	Agents   []UserAgent    `json:"agents"`
	Networks []NetworkCount `json:"networks"`
	// Files are the versions with the rules.
	Files []EvidenceFile `json:"files"`
	// Missing lists versions with rules whose content is no longer stored.
	Missing []string `json:"missing"`
}

// EvidenceFile is a robots.txt.
type EvidenceFile struct {
	Site      string    `json:"site"`
	Version   string    `json:"version"`
	FirstRead time.Time `json:"first_read"`
	LastRead  time.Time `json:"last_read"`
	Until     time.Time `json:"until,omitzero"`
	Text      string    `json:"text"`
}
