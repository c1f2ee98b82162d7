package report

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Filter selects the requests of a view. The zero Filter selects all requests of the last 24 hours.
type Filter struct {
	Site     string `json:"site,omitempty"`     // Site is "" for all sites.
	Class    string `json:"class,omitempty"`    // Class is a word of uaident.Class, or "" for all classes.
	Identity string `json:"identity,omitempty"` // Identity is verified, claimed, unknown or spoofed, or "" for all.
	// Host selects one host of a site with several hosts, "" all hosts. It affects violations and
	// the details of a crawler only, because other numbers do not distinguish hosts.
	Host   string `json:"host,omitempty"`
	Window Window `json:"window"` // The default "" means Day.
	// From and To are the bounds of a Range, in whole minutes, hours or days of UTC. An absent To
	// means now.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// ParseFilter parses the URL parameters site, host, class, identity, window, from and to. With
// from, which requires a time, the window is a [Range], whatever the parameter window.
func ParseFilter(query url.Values) (Filter, error) {
	f := Filter{Site: query.Get("site"), Host: query.Get("host"), Class: query.Get("class"), Identity: query.Get("identity"), Window: Window(query.Get("window"))}
	if f.Window == "" {
		f.Window = Day
	}
	if query.Has("from") || query.Has("to") {
		f.Window = Range
		var err error
		if f.From, err = time.Parse(time.RFC3339, query.Get("from")); err != nil {
			return Filter{}, fmt.Errorf("from %.40q is not a time; use one such as 2026-11-21T14:00:00Z", query.Get("from"))
		}
		if text := query.Get("to"); text != "" {
			if f.To, err = time.Parse(time.RFC3339, text); err != nil || !f.To.After(f.From) {
				return Filter{}, fmt.Errorf("to %.40q is not a time after from", text)
			}
		}
	} else if !slices.Contains(fixedWindows(), f.Window) {
		return Filter{}, fmt.Errorf("unknown window %.40q; use one of %v", f.Window, fixedWindows())
	}
	if _, ok := uaident.ParseClass(f.Class); f.Class != "" && !ok {
		return Filter{}, fmt.Errorf("unknown class %.40q; use one of %v", f.Class, uaident.Classes()[1:])
	}
	if f.Identity != "" && new(verify.State).UnmarshalText([]byte(f.Identity)) != nil {
		return Filter{}, fmt.Errorf("unknown identity %.40q; use verified, claimed, unknown or spoofed", f.Identity)
	}
	return f, nil
}

// Window is the time that a view covers: a fixed length up to now, or [Range].
type Window string

// The windows. A window consists of whole minutes, hours or days, including the current one.
// At 14:20 the window 24h begins at 15:00 of the previous day.
const (
	Hour  Window = "1h"
	Day   Window = "24h"
	Week  Window = "7d"
	Month Window = "30d"
	// Range has explicit bounds. See Filter.From.
	Range Window = "range"
)

// fixedWindows returns the windows of a fixed length, shortest first.
func fixedWindows() []Window { return []Window{Hour, Day, Week, Month} }

// ViewHeader has the fields that all views have in common.
type ViewHeader struct {
	Filter    Filter    `json:"filter"`
	Generated time.Time `json:"generated"`
	// From is the start of the window. To is its end, or the time of the view if the window has not
	// ended.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// CountedFrom is the start of the counted part of the window. It is later than From if counting
	// began later, or if older data have been removed.
	CountedFrom time.Time `json:"counted_from"`
	// PreviousFrom is the start of the previous period, which is as long as the window and ends at
	// From. PreviousFrom is absent if not all of that period was counted.
	PreviousFrom time.Time `json:"previous_from,omitzero"`
	// LedgerStart is the time at which counting began.
	LedgerStart time.Time `json:"since,omitzero"`
	// Sites, Classes and Identities are the values that the filter can select.
	Sites      []string `json:"sites"`
	Classes    []string `json:"classes"`
	Identities []string `json:"identities"`
}
