package report

import "time"

// RegistryStatus is the state of the configured registry file or URL.
type RegistryStatus struct {
	Name string `json:"name"` // the file or the URL
	// InUse is nil if only the built-in registry is in use.
	InUse *RegistryVersion `json:"in_use,omitempty"`
	// ConfirmedAt is when InUse was last confirmed as current.
	ConfirmedAt time.Time `json:"checked,omitzero"`
	// Failure is the error of the last attempt.
	Failure      string    `json:"failure,omitempty"`
	FailingSince time.Time `json:"failing_since,omitzero"`
}

// RegistryVersion is a version of a registry.
type RegistryVersion struct {
	ID       string `json:"id"`
	Date     string `json:"date,omitempty"`
	Crawlers int    `json:"crawlers"` // entries
}
