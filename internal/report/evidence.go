package report

import (
	"time"
)

// Evidence is what there is to show about one crawler, for its operator or an
// abuse desk. [Evidence.WriteText] makes a text of it.
type Evidence struct {
	Head
	Crawler Crawler `json:"crawler"`
	// Requests are examples, the earliest first: the ledger keeps the last few
	// of each crawler.
	Requests []Sample       `json:"requests_outside"`
	Rules    []RuleCount    `json:"rules"`
	Paths    []Violation    `json:"paths"`
	Readings []Reading      `json:"readings"` // the last one at each site
	Agents   []UserAgent    `json:"agents"`
	Networks []NetworkCount `json:"networks"`
	// Files are the texts that the rules are from.
	Files []EvidenceFile `json:"files"`
	// Missing are versions that the rules are from and whose text is not kept
	// any more.
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
