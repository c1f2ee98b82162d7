package report

import "time"

// ManagedChange is a change of a robots_txt: one that waits, is tried, is in force, or
// is over.
type ManagedChange struct {
	ID     string `json:"id"`
	Origin string `json:"origin"` // configuration, rules, base or rollback
	// State is what it waits for or how it is tried (confirmation, shadow, hosts,
	// crawlers), published, or why it is over (superseded, rolled_back, withdrawn,
	// stopped, confirmed).
	State string    `json:"state"`
	Since time.Time `json:"since"` // of that state
	// Until is when a trial ends by itself, absent if only a person ends it.
	Until  time.Time `json:"until,omitzero"`
	Who    string    `json:"who"` // who made it
	Why    string    `json:"why,omitempty"`
	Ticket string    `json:"ticket,omitempty"`
	// Decided are those who confirmed or promoted it, or ended it, with what they said.
	Decided []string `json:"decided,omitempty"`
	// ReadBy are the crawlers that have read the robots.txt while it was in force.
	ReadBy []string `json:"read_by,omitempty"`
	// Reasons are why it has to be confirmed, and Difference what it says otherwise than
	// the one before.
	Reasons    []string `json:"reasons,omitempty"`
	Difference []string `json:"difference,omitempty"`
}

// ManagedList is a list of rules that is read beside the configuration.
type ManagedList struct {
	Name    string `json:"name"`              // its file or URL
	Rules   int    `json:"rules"`             // of the version in use
	Failure string `json:"failure,omitempty"` // what is wrong with it now
}
