package report

import "time"

// RegistryStatus is the state of the registry file or URL in the configuration.
type RegistryStatus struct {
	Name string `json:"name"` // Name is the file or the URL.
	// InUse is the version in use, or nil if only the built-in registry is in use.
	InUse *RegistryVersion `json:"in_use,omitempty"`
	// ConfirmedAt is the last time at which the file or URL confirmed that InUse is current.
	ConfirmedAt time.Time `json:"checked,omitzero"`
	// Failure is the error of the last attempt to read the registry.
	Failure      string    `json:"failure,omitempty"`
	FailingSince time.Time `json:"failing_since,omitzero"`
}

// RegistryVersion is one version of the registry in a file or at a URL.
type RegistryVersion struct {
	ID       string `json:"id"`
	Date     string `json:"date,omitempty"`
	Crawlers int    `json:"crawlers"` // Crawlers is the number of entries.
}
