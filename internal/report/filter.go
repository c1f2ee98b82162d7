package report

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Filter narrows a view. The zero Filter is everything of the last 24 hours.
type Filter struct {
	Site     string `json:"site,omitempty"`     // "" for all
	Class    string `json:"class,omitempty"`    // "" for all; a word of uaident.Class
	Identity string `json:"identity,omitempty"` // "" for all; verified, claimed, unknown or spoofed
	// Host narrows the pages of violations and of a crawler to one host of a site that stands
	// for several, "" for all. Other numbers are not counted by host.
	Host   string `json:"host,omitempty"`
	Window Window `json:"window"` // "" is Day
	// From and To are the bounds of a Range, in whole steps of what is counted:
	// minutes, hours or days of UTC. To is absent for now.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// ParseFilter reads a filter from the parameters site, host, class, identity,
// window, from and to of a URL. Who says from has no window.
func ParseFilter(query url.Values) (Filter, error) {
	f := Filter{Site: query.Get("site"), Host: query.Get("host"), Class: query.Get("class"), Identity: query.Get("identity"), Window: Window(query.Get("window"))}
	if f.Window == "" {
		f.Window = Day
	}
	if query.Has("from") || query.Has("to") {
		f.Window = Range
		var err error
		if f.From, err = time.Parse(time.RFC3339, query.Get("from")); err != nil {
			return Filter{}, fmt.Errorf("from %.40q is no time such as 2026-11-21T14:00:00Z", query.Get("from"))
		}
		if text := query.Get("to"); text != "" {
			if f.To, err = time.Parse(time.RFC3339, text); err != nil || !f.To.After(f.From) {
				return Filter{}, fmt.Errorf("to %.40q is no time after from", text)
			}
		}
	} else if !slices.Contains(windows(), f.Window) {
		return Filter{}, fmt.Errorf("window %.40q cannot be; use one of %v", f.Window, windows())
	}
	if _, ok := uaident.ParseClass(f.Class); f.Class != "" && !ok {
		return Filter{}, fmt.Errorf("class %.40q is none; the classes are %v", f.Class, uaident.Classes()[1:])
	}
	if f.Identity != "" && new(verify.State).UnmarshalText([]byte(f.Identity)) != nil {
		return Filter{}, fmt.Errorf("identity %.40q is none; use verified, claimed, unknown or spoofed", f.Identity)
	}
	return f, nil
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
	// Range is from one time to another, see Filter.From.
	Range Window = "range"
)

// windows returns those that end now, the shortest first.
func windows() []Window { return []Window{Hour, Day, Week, Month} }

// Head is what every view begins with.
type Head struct {
	Filter    Filter    `json:"filter"`
	Generated time.Time `json:"generated"`
	// From is the start of the window, and To its end: Generated, if it ends now.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
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
