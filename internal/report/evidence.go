package report

import (
	"time"
)

// Evidence is a report about one crawler for its operator or an abuse desk. It contains the
// crawler's data and the robots.txt files that it violated. [Evidence.WriteText] formats the
// report.
type Evidence struct {
	CrawlerDetail
	// Files are the versions of robots.txt that contain the violated rules.
	Files []EvidenceFile `json:"files"`
	// MissingVersions lists the SHA-256 of versions with violated rules that are no longer stored.
	MissingVersions []string `json:"missing"`
}

// EvidenceFile is one version of a site's robots.txt.
type EvidenceFile struct {
	Site         string    `json:"site"`
	Version      string    `json:"version"`
	FirstFetched time.Time `json:"first_read"`
	LastFetched  time.Time `json:"last_read"`
	ReplacedAt   time.Time `json:"until,omitzero"`
	Text         string    `json:"text"`
}
