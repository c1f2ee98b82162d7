package report

import "time"

// ChangeWaiting is the state of a change that waits for confirmation.
const ChangeWaiting = "waiting"

// ManagedChange is a change of a robots.txt that robots_txt serves.
type ManagedChange struct {
	Number int    `json:"number"` // Number is the number of the change at its site.
	ID     string `json:"id"`
	Origin string `json:"origin"` // Origin is configuration, rules or rollback.
	// State is waiting, shadow, canary, published, superseded, rolled_back or rejected.
	State string    `json:"state"`
	Since time.Time `json:"since"` // Since is the start of that state.
	// StopReason is the reason why the trial of the change rejected it, or "".
	StopReason string `json:"stopped,omitempty"`
	// Until is the time at which the trial ends by itself, if any.
	Until  time.Time `json:"until,omitzero"`
	Author string    `json:"who"` // Author is the person or instance that submitted the change.
	Reason string    `json:"why,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	// Decisions lists who confirmed, promoted or ended the change, with their comments.
	Decisions []string `json:"decided,omitempty"`
	// FetchedBy lists the crawlers that fetched the robots.txt while the change was in force.
	FetchedBy []string `json:"read_by,omitempty"`
	// Reasons are the reasons why the change needs a confirmation. Difference has the lines that
	// differ from the previous file.
	Reasons    []string `json:"reasons,omitempty"`
	Difference []string `json:"difference,omitempty"`
}

// ManagedList is a rule list of robots_txt that is stored outside of the configuration.
type ManagedList struct {
	Name    string `json:"name"`              // Name is the file or URL of the list.
	Rules   int    `json:"rules"`             // Rules is the number of rules in use.
	Failure string `json:"failure,omitempty"` // Failure is the current error, if any.
}
