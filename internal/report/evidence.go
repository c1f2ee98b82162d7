package report

import (
	"time"
)

// Evidence is the data about one crawler for its operator or an abuse desk: the detail view
// and the violated robots.txt. [Evidence.WriteText] formats the data.
type Evidence struct {
	CrawlerDetail
	// Files are the versions with the rules.
	Files []EvidenceFile `json:"files"`
	// MissingVersions lists versions with rules whose content is no longer stored.
	MissingVersions []string `json:"missing"`
}

// EvidenceFile is a robots.txt.
type EvidenceFile struct {
	Site         string    `json:"site"`
	Version      string    `json:"version"`
	FirstFetched time.Time `json:"first_read"`
	LastFetched  time.Time `json:"last_read"`
	GraceUntil   time.Time `json:"until,omitzero"`
	Text         string    `json:"text"`
}
