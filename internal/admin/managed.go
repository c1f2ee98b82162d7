package admin

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// ManagedPath is the path of the changes of robots_txt:
//
//	GET  /robots_guard/managed/changes
//	GET  /robots_guard/managed/history?site=<site>
//	GET  /robots_guard/managed/diff?site=<site>[&from=<id>][&to=<id>]
//	POST /robots_guard/managed/confirm
//	POST /robots_guard/managed/promote
//	POST /robots_guard/managed/stop
//	POST /robots_guard/managed/rollback
//
// POST accepts an [Action] and responds with an [ActionResult]. The name of the robots_txt is
// optional if only one robots_txt runs.
const ManagedPath = "/robots_guard/managed"

// ActionVerbs returns the actions that people can apply to a change of a managed robots.txt.
func ActionVerbs() []string { return []string{"confirm", "promote", "stop", "rollback"} }

// Action is the body of a request to apply an action, such as confirm, to a change.
type Action struct {
	Site string `json:"site,omitempty"`
	// ID is the ID of the change. The default is the pending change, or the previous one for a
	// rollback.
	ID     string `json:"id,omitempty"`
	User   string `json:"who"`
	Reason string `json:"why,omitempty"` // Reason is required only for the action confirm.
	Ticket string `json:"ticket,omitempty"`
}

// ActionResult is the response to an [Action].
type ActionResult struct {
	Site  string        `json:"site"`
	State publish.State `json:"state"` // State is the new state of the change.
	ManagedState
}

// ManagedState has the published and the pending change of a robots_txt handler.
type ManagedState struct {
	Published *publish.Change `json:"published"` // Published is null if no change was ever published.
	Pending   *publish.Change `json:"pending"`   // Pending is null if no change is waiting or on trial.
}

// ManagedSite is a robots_txt handler with its published and its pending change.
type ManagedSite struct {
	Site            string   `json:"site"`
	Hosts           []string `json:"hosts"` // Hosts is empty if the site is for any host.
	HistoryReadable bool     `json:"known"` // HistoryReadable is false if the history is unreadable.
	ManagedState
}

// ManagedSites lists all robots_txt handlers.
type ManagedSites struct {
	Sites []ManagedSite `json:"sites"`
}

// ManagedHistory is a robots_txt handler with all its changes.
type ManagedHistory struct {
	ManagedSite
	History []publish.Change `json:"history"` // The latest change is the first.
}

// ManagedDiff is the difference between the files of two changes.
type ManagedDiff struct {
	Site      string   `json:"site"`
	From      string   `json:"from"`
	To        string   `json:"to"`
	DiffLines []string `json:"difference"`
}

func (a *API) managedRoutes() []caddy.AdminRoute {
	routes := []caddy.AdminRoute{
		newRoute(ManagedPath+"/changes", "GET", a.serveManagedSites),
		newRoute(ManagedPath+"/history", "GET", a.serveManagedHistory, "site"),
		newRoute(ManagedPath+"/diff", "GET", a.serveManagedDiff, "site", "from", "to"),
	}
	for _, verb := range ActionVerbs() {
		routes = append(routes, newRoute(ManagedPath+"/"+verb, "POST", a.serveManagedAction(verb)))
	}
	return routes
}

// siteWithHistory returns the state of a robots_txt handler, and its history.
func siteWithHistory(m *publish.Publisher) (ManagedSite, publish.History) {
	state, known := m.History()
	return ManagedSite{m.SiteName(), append([]string{}, m.Hosts()...), known, ManagedState{state.Published, state.Pending}}, state
}

// serveManagedSites responds with the state of all robots_txt handlers.
func (a *API) serveManagedSites(http.ResponseWriter, *http.Request) (any, error) {
	all := ManagedSites{Sites: []ManagedSite{}}
	for _, m := range a.findRunning().Managed() {
		site, _ := siteWithHistory(m)
		all.Sites = append(all.Sites, site)
	}
	return all, nil
}

// findPublisher returns the publisher of the robots_txt handler with a name or a host. If there is
// only one handler, the name may be "".
func (a *API) findPublisher(name string) (*publish.Publisher, error) {
	all := a.findRunning().Managed()
	if name == "" && len(all) == 1 {
		return all[0], nil
	}
	var names []string
	for _, m := range all {
		if name != "" && (m.SiteName() == name || slices.Contains(m.Hosts(), name)) {
			return m, nil
		}
		names = append(names, m.SiteName())
	}
	const most = 10
	switch {
	case len(all) == 0:
		return nil, httpError(http.StatusNotFound, "this server has no robots_txt")
	case len(names) > most:
		names = append(names[:most], "...")
	}
	return nil, httpError(http.StatusNotFound, "choose a robots_txt: set the parameter site to one of %s", strings.Join(names, " or "))
}

// serveManagedHistory responds with all changes of a robots_txt handler.
func (a *API) serveManagedHistory(_ http.ResponseWriter, r *http.Request) (any, error) {
	m, err := a.findPublisher(r.FormValue("site"))
	if err != nil {
		return nil, err
	}
	site, state := siteWithHistory(m)
	if site.Published != nil {
		published := *site.Published
		published.FetchedBy = m.FetchedBy()
		site.Published = &published
	}
	return ManagedHistory{site, append([]publish.Change{}, state.Past...)}, nil
}

// serveManagedDiff responds with the difference between the files of two changes. By default it
// compares the published with the pending change, or without one the previous with the published
// change.
func (a *API) serveManagedDiff(_ http.ResponseWriter, r *http.Request) (any, error) {
	m, err := a.findPublisher(r.FormValue("site"))
	if err != nil {
		return nil, err
	}
	state, _ := m.History()
	from, to := state.PublishedID(), state.PublishedID()
	switch {
	case state.Pending != nil:
		to = state.Pending.ID
	case state.Published != nil:
		from = state.Published.Parent
	}
	d := ManagedDiff{Site: m.SiteName(), From: cmp.Or(r.FormValue("from"), from), To: cmp.Or(r.FormValue("to"), to)}
	if d.DiffLines, err = m.DescribeDifference(r.Context(), d.From, d.To); err != nil {
		return nil, httpError(http.StatusNotFound, "%w; GET %s/history lists the changes", err, ManagedPath)
	}
	d.DiffLines = append([]string{}, d.DiffLines...)
	return d, nil
}

// serveManagedAction returns a function that applies an action to a change.
func (a *API) serveManagedAction(verb string) func(http.ResponseWriter, *http.Request) (any, error) {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		var d Action
		if err := readBody(w, r, &d); err != nil {
			return nil, err
		}
		if err := d.validate(verb); err != nil {
			return nil, httpError(http.StatusBadRequest, "%w", err)
		}
		m, err := a.findPublisher(d.Site)
		if err != nil {
			return nil, err
		}
		changed, err := m.ApplyAction(r.Context(), verb, d.ID, publish.Decision{User: d.User, Reason: d.Reason, Ticket: d.Ticket})
		for _, cannot := range []error{publish.ErrNonePending, publish.ErrOther, publish.ErrUnconfirmed, publish.ErrConfirmed,
			publish.ErrUnknown, publish.ErrUnreadable, publish.ErrIsPublished, publish.ErrIsFirst} {
			if errors.Is(err, cannot) {
				return nil, httpError(http.StatusConflict, "%w; GET %s/changes shows the state", err, ManagedPath)
			}
		}
		if err != nil {
			return nil, httpError(http.StatusServiceUnavailable, "the history of the changes cannot be used: %w", err)
		}
		site, _ := siteWithHistory(m)
		return ActionResult{m.SiteName(), changed.State, site.ManagedState}, nil
	}
}

// validate returns an error if a field is missing or invalid. verb is the requested action.
func (d *Action) validate(verb string) error {
	for _, field := range []struct{ name, text string }{{"who", d.User}, {"why", d.Reason}, {"ticket", d.Ticket}} {
		if utf8.RuneCountInString(field.text) > publish.MaxText || strings.ContainsAny(field.text, "\r\n\x00") {
			return errors.New(field.name + " has to be one line of up to 500 characters")
		}
	}
	switch {
	case d.User == "":
		return errors.New("the field who is missing; give the name of a person for the history")
	case d.User == publish.ByTrial:
		return errors.New(`the name "trial" is reserved for trials that end automatically; set "who" to the name of a person`)
	case d.Reason == "" && verb == "confirm":
		return errors.New("the field why is missing; give a reason for the history")
	}
	return nil
}
