package report

import "time"

// ChangeWaiting is the state of a change that a person has to confirm.
const ChangeWaiting = "waiting"

// ManagedChange is a change of a managed robots.txt.
type ManagedChange struct {
	Number int    `json:"number"` // counts the changes of a site
	ID     string `json:"id"`
	Origin string `json:"origin"` // configuration, rules or rollback
	// State is waiting, shadow, canary, published, superseded, rolled_back or rejected.
	State string    `json:"state"`
	Since time.Time `json:"since"` // of that state
	// Stopped is why its own trial rejected it, "" if it did not.
	Stopped string `json:"stopped,omitempty"`
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
