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
// POST accepts an [Action] and responds with an [ActionResult]. The name of the robots_txt is optional if only
// one robots_txt runs.
const ManagedPath = "/robots_guard/managed"

// Verbs returns the possible actions of a person on a change.
func Verbs() []string { return []string{"confirm", "promote", "stop", "rollback"} }

// Action is an action of a person on a change.
type Action struct {
	Site   string `json:"site,omitempty"`
	ID     string `json:"id,omitempty"` // the ID of the change; by default the pending change, or the previous one for a rollback
	Who    string `json:"who"`
	Why    string `json:"why,omitempty"` // required to confirm
	Ticket string `json:"ticket,omitempty"`
}

// ActionResult is the result of an [Action].
type ActionResult struct {
	Site  string        `json:"site"`
	State publish.State `json:"state"` // the new state of the change
	ManagedState
}

// ManagedState has the published and the pending change of a site.
type ManagedState struct {
	Published *publish.Change `json:"published"` // null if no change was ever published
	Pending   *publish.Change `json:"pending"`   // null if no change is waiting or on trial
}

// ManagedSite is a robots_txt handler with its published and its pending change.
type ManagedSite struct {
	Site  string   `json:"site"`
	Hosts []string `json:"hosts"` // empty for any host
	Known bool     `json:"known"` // false if the history is unreadable
	ManagedState
}

// ManagedSites lists all robots_txt handlers.
type ManagedSites struct {
	Sites []ManagedSite `json:"sites"`
}

// ManagedHistory is a site with all its changes.
type ManagedHistory struct {
	ManagedSite
	History []publish.Change `json:"history"` // the latest first
}

// ManagedDiff is the difference between two changes.
type ManagedDiff struct {
	Site       string   `json:"site"`
	From       string   `json:"from"`
	To         string   `json:"to"`
	Difference []string `json:"difference"`
}

func (a *API) managedRoutes() []caddy.AdminRoute {
	routes := []caddy.AdminRoute{
		route(ManagedPath+"/changes", "GET", a.managed),
		route(ManagedPath+"/history", "GET", a.managedHistory, "site"),
		route(ManagedPath+"/diff", "GET", a.managedDiff, "site", "from", "to"),
	}
	for _, verb := range Verbs() {
		routes = append(routes, route(ManagedPath+"/"+verb, "POST", a.managedAction(verb)))
	}
	return routes
}

// siteState returns the state and the history of a robots_txt handler.
func siteState(m *publish.Publisher) (ManagedSite, publish.History) {
	state, known := m.History()
	return ManagedSite{m.Site(), append([]string{}, m.Hosts()...), known, ManagedState{state.Published, state.Pending}}, state
}

// managed responds with all robots_txt handlers.
func (a *API) managed(http.ResponseWriter, *http.Request) (any, error) {
	all := ManagedSites{Sites: []ManagedSite{}}
	for _, m := range a.running().Managed() {
		site, _ := siteState(m)
		all.Sites = append(all.Sites, site)
	}
	return all, nil
}

// publisherOf returns the robots_txt handler with a name or a host. "" selects the only handler.
func (a *API) publisherOf(name string) (*publish.Publisher, error) {
	all := a.running().Managed()
	if name == "" && len(all) == 1 {
		return all[0], nil
	}
	var names []string
	for _, m := range all {
		if name != "" && (m.Site() == name || slices.Contains(m.Hosts(), name)) {
			return m, nil
		}
		names = append(names, m.Site())
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

// managedHistory responds with the changes of a site.
func (a *API) managedHistory(_ http.ResponseWriter, r *http.Request) (any, error) {
	m, err := a.publisherOf(r.FormValue("site"))
	if err != nil {
		return nil, err
	}
	site, state := siteState(m)
	if site.Published != nil {
		published := *site.Published
		published.ReadBy = m.ReadBy()
		site.Published = &published
	}
	return ManagedHistory{site, append([]publish.Change{}, state.Past...)}, nil
}

// managedDiff responds with the difference of two changes. The default is the published and the
// pending change, or else the previous and the published change.
func (a *API) managedDiff(_ http.ResponseWriter, r *http.Request) (any, error) {
	m, err := a.publisherOf(r.FormValue("site"))
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
	d := ManagedDiff{Site: m.Site(), From: cmp.Or(r.FormValue("from"), from), To: cmp.Or(r.FormValue("to"), to)}
	if d.Difference, err = m.Difference(r.Context(), d.From, d.To); err != nil {
		return nil, httpError(http.StatusNotFound, "%w; GET %s/history lists the changes", err, ManagedPath)
	}
	d.Difference = append([]string{}, d.Difference...)
	return d, nil
}

// managedAction applies the action of a person.
func (a *API) managedAction(verb string) func(http.ResponseWriter, *http.Request) (any, error) {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		var d Action
		if err := readBody(w, r, &d); err != nil {
			return nil, err
		}
		if err := d.validate(verb); err != nil {
			return nil, httpError(http.StatusBadRequest, "%w", err)
		}
		m, err := a.publisherOf(d.Site)
		if err != nil {
			return nil, err
		}
		changed, err := m.Act(r.Context(), verb, d.ID, publish.By{Who: d.Who, Why: d.Why, Ticket: d.Ticket})
		for _, cannot := range []error{publish.ErrNonePending, publish.ErrOther, publish.ErrUnconfirmed, publish.ErrConfirmed,
			publish.ErrUnknown, publish.ErrUnreadable, publish.ErrIsPublished, publish.ErrIsFirst} {
			if errors.Is(err, cannot) {
				return nil, httpError(http.StatusConflict, "%w; GET %s/changes shows the state", err, ManagedPath)
			}
		}
		if err != nil {
			return nil, httpError(http.StatusServiceUnavailable, "the history of the changes: %w", err)
		}
		site, _ := siteState(m)
		return ActionResult{m.Site(), changed.State, site.ManagedState}, nil
	}
}

// validate returns an error for an invalid action.
func (d *Action) validate(verb string) error {
	for _, field := range []struct{ name, text string }{{"who", d.Who}, {"why", d.Why}, {"ticket", d.Ticket}} {
		if utf8.RuneCountInString(field.text) > publish.MaxText || strings.ContainsAny(field.text, "\r\n\x00") {
			return errors.New(field.name + " has to be one line of up to 500 characters")
		}
	}
	switch {
	case d.Who == "":
		return errors.New("the field who is missing; enter a name for the history")
	case d.Who == publish.ByTrial:
		return errors.New("the name trial is reserved for trials that end automatically; set who to the name of a person")
	case d.Why == "" && verb == "confirm":
		return errors.New("the field why is missing; enter a reason for the history")
	}
	return nil
}
