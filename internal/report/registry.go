package report

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

// Registry is the registry of crawlers that a configuration names beside the built-in
// one. Texts of others are in it as they are.
type Registry struct {
	Name   string `json:"name"` // the file or the URL
	Signed bool   `json:"signed"`
	// InUse is nil where the built-in one is in use alone.
	InUse *RegistryText `json:"in_use,omitempty"`
	// Checked is when that was last known to be current.
	Checked time.Time `json:"checked,omitzero"`
	// Failure is why there is no newer one.
	Failure      string    `json:"failure,omitempty"`
	FailingSince time.Time `json:"failing_since,omitzero"`
	// Waiting is nil if no text waits until it is accepted.
	Waiting *RegistryText `json:"waiting,omitempty"`
}

// RegistryText is a text of a registry.
type RegistryText struct {
	ID       string `json:"id"`
	Serial   uint64 `json:"serial,omitempty"`
	Date     string `json:"date,omitempty"`
	Crawlers int    `json:"crawlers"` // entries
	// Since, Why and Changes are of one that waits: since when, what is odd about it, and
	// what it says otherwise than the text in use, the first hundred crawlers.
	Since   time.Time        `json:"since,omitzero"`
	Why     []string         `json:"why,omitempty"`
	Changes []edition.Change `json:"changes,omitempty"`
}
