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
