package report

import (
	"time"
)

// Filter narrows a view. The zero Filter is everything of the last 24 hours.
type Filter struct {
	Site     string `json:"site,omitempty"`     // "" for all
	Class    string `json:"class,omitempty"`    // "" for all; a word of uaident.Class
	Identity string `json:"identity,omitempty"` // "" for all; verified, claimed, unknown or spoofed
	Window   Window `json:"window"`             // "" is Day
}

// Window is how far back a view looks.
type Window string

// The windows. What is counted in one are its last so many minutes, hours or
// days, the current one included: 24h at 14:20 begins at 15:00 of the day
// before.
const (
	Hour  Window = "1h"
	Day   Window = "24h"
	Week  Window = "7d"
	Month Window = "30d"
)

// Windows returns all of them, the shortest first.
func Windows() []Window { return []Window{Hour, Day, Week, Month} }

// Head is what every view begins with.
type Head struct {
	Filter    Filter    `json:"filter"`
	Generated time.Time `json:"generated"`
	// From is the start of the window.
	From time.Time `json:"from"`
	// CountedFrom is the start of what was counted in the window: From, or
	// when counting began, or what retention leaves. There is no past to show
	// before it, not even one without requests.
	CountedFrom time.Time `json:"counted_from"`
	// PreviousFrom is the start of the period of the same length that ends at
	// From, with which the counts called previous compare; absent, as these
	// are, if not all of it was counted.
	PreviousFrom time.Time `json:"previous_from,omitzero"`
	// Since is when the ledger began to count, which may be after From.
	Since time.Time `json:"since,omitzero"`
	// Sites, Classes and Identities are what there is to choose from, whatever
	// the filter.
	Sites      []string `json:"sites"`
	Classes    []string `json:"classes"`
	Identities []string `json:"identities"`
}
