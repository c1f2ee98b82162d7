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
	// Host restricts violations and crawler details to one host of a site with several hosts.
	// "" means all hosts. Other numbers do not distinguish hosts.
	Host   string `json:"host,omitempty"`
	Window Window `json:"window"` // "" is Day
	// From and To are the bounds of a Range, in whole minutes, hours or days of UTC. An
	// absent To means now.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// ParseFilter parses the URL parameters site, host, class, identity, window, from and to.
// from and to replace window.
func ParseFilter(query url.Values) (Filter, error) {
	f := Filter{Site: query.Get("site"), Host: query.Get("host"), Class: query.Get("class"), Identity: query.Get("identity"), Window: Window(query.Get("window"))}
	if f.Window == "" {
		f.Window = Day
	}
	if query.Has("from") || query.Has("to") {
		f.Window = Range
		var err error
		if f.From, err = time.Parse(time.RFC3339, query.Get("from")); err != nil {
			return Filter{}, fmt.Errorf("from %.40q is not a time, for example 2026-11-21T14:00:00Z", query.Get("from"))
		}
		if text := query.Get("to"); text != "" {
			if f.To, err = time.Parse(time.RFC3339, text); err != nil || !f.To.After(f.From) {
				return Filter{}, fmt.Errorf("to %.40q is not a time after from", text)
			}
		}
	} else if !slices.Contains(windows(), f.Window) {
		return Filter{}, fmt.Errorf("unknown window %.40q; use one of %v", f.Window, windows())
	}
	if _, ok := uaident.ParseClass(f.Class); f.Class != "" && !ok {
		return Filter{}, fmt.Errorf("unknown class %.40q; use one of %v", f.Class, uaident.Classes()[1:])
	}
	if f.Identity != "" && new(verify.State).UnmarshalText([]byte(f.Identity)) != nil {
		return Filter{}, fmt.Errorf("unknown identity %.40q; use verified, claimed, unknown or spoofed", f.Identity)
	}
	return f, nil
}

// Window is the length of time covered by a view.
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

// windows returns the windows ending now, shortest first.
func windows() []Window { return []Window{Hour, Day, Week, Month} }

// ViewHeader is the common part of all views.
type ViewHeader struct {
	Filter    Filter    `json:"filter"`
	Generated time.Time `json:"generated"`
	// From is the start of the window. To is the end of the window, or Generated.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// CountedFrom is the start of the part of the window with data: From, the start of
	// counting or the limit of the retention. Steps before CountedFrom are unknown.
	CountedFrom time.Time `json:"counted_from"`
	// PreviousFrom is the start of the previous period, which has the same length and ends at
	// From. PreviousFrom is absent if data of the period is missing.
	PreviousFrom time.Time `json:"previous_from,omitzero"`
	// LedgerStart is the time at which the ledger began to count.
	LedgerStart time.Time `json:"since,omitzero"`
	// Sites, Classes and Identities are the choices for the filter.
	Sites      []string `json:"sites"`
	Classes    []string `json:"classes"`
	Identities []string `json:"identities"`
}

// ClearGenerated removes the time of the view, to compare views.
func (h *ViewHeader) ClearGenerated() { h.Generated = time.Time{} }
