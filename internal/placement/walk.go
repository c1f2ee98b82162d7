package placement

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Route is a route of a server, or of a subroute.
type Route struct {
	Group    string                       `json:"group"`
	Match    []map[string]json.RawMessage `json:"match"`
	Handle   []json.RawMessage            `json:"handle"`
	Terminal bool                         `json:"terminal"`
}

// Server has the parts of a configured server that affect the order of handlers.
type Server struct {
	Listen    []string `json:"listen"`
	Routes    []Route  `json:"routes"`
	AutoHTTPS struct {
		Disable          bool `json:"disable"`
		DisableRedirects bool `json:"disable_redirects"`
	} `json:"automatic_https"`
}

// Placed calls [In] for the routes of a server and adds its addresses.
func (s Server) Placed(name string) ([]*Placed, error) {
	placed, err := In(name, s.Routes)
	for _, p := range placed {
		p.Listen, p.LedTo = s.Listen, !s.AutoHTTPS.Disable && !s.AutoHTTPS.DisableRedirects
	}
	return placed, err
}

// In returns the handlers of this module in the routes of a server, in order. It omits handlers in
// error routes, in named routes and in routes for responses.
func In(server string, routes []Route) ([]*Placed, error) {
	w := walk{server: server}
	_, err := w.routes(routes, way{})
	return w.found, err
}

type walk struct {
	server    string
	found     []*Placed
	unguarded []unguardedMatcher
}

// unguardedMatcher is a [Disallowed] matcher that no guard precedes.
type unguardedMatcher struct {
	config json.RawMessage
	site   string
}

// way describes the handlers and matchers before a position in the routes.
type way struct {
	hosts    []string
	matches  []Match
	reach    string
	before   *passed
	groups   []string
	only     string  // see Placed
	answered *answer // nil if a request may reach this position
}

// answer is a handler that responds to every request.
type answer struct {
	name   string
	placed *Placed // nil for a handler of another module
}

// routes walks over routes and returns the way after them.
func (w *walk) routes(routes []Route, around way) (way, error) {
	behind := around
	for i, route := range routes {
		here := behind
		if route.Group != "" { // a request uses only one route of a group
			here.groups = append(slices.Clip(here.groups), route.Group)
			here.reach += "\n" + route.Group + " " + strconv.Itoa(i)
		}
		if err := here.match(route.Match); err != nil {
			return behind, err
		}
		if config := disallowedIn(route.Match); config != nil && !here.isGuarded() {
			w.unguarded = append(w.unguarded, unguardedMatcher{config, siteName(w.server, here.hosts)})
		}
		for _, handler := range route.Handle {
			var err error
			if here, err = w.handler(handler, here); err != nil {
				return behind, err
			}
		}
		conditional := len(route.Match) > 0 || route.Group != ""
		if route.Terminal && conditional {
			continue // later routes are for other requests
		}
		for p := here.before; route.Group != "" && p != behind.before; p = p.before {
			p.group = route.Group
		}
		behind.before = here.before
		if !conditional {
			behind.answered = here.answered
		}
	}
	return behind, nil
}

// isGuarded reports whether a request at this position may have passed a guard. An invoked named
// route may contain a guard.
func (y *way) isGuarded() bool {
	for b := y.before; b != nil; b = b.before {
		if (b.name == Guard || b.name == "invoke") && !slices.Contains(y.groups, b.group) && share(b.hosts, y.hosts) {
			return true
		}
	}
	return false
}

// match adds the matchers of a route.
func (y *way) match(sets []map[string]json.RawMessage) error {
	if len(sets) == 0 {
		return nil
	}
	var hosts []string
	rest, anyHost := make([]map[string]json.RawMessage, len(sets)), false
	for i, set := range sets {
		rest[i] = maps.Clone(set)
		delete(rest[i], "host")
		config, ok := set["host"]
		if !ok {
			anyHost = true
			continue
		}
		var names []string
		if err := json.Unmarshal(config, &names); err != nil {
			return err
		}
		hosts = append(hosts, names...)
	}
	if !anyHost {
		y.hosts = hosts
	}
	y.matches = slices.Clip(y.matches)
	if len(rest) == 1 {
		y.matches = append(y.matches, matchesOf(rest[0])...)
		y.only = cmp.Or(exactPath(rest[0]["path"]), y.only)
	} else if slices.ContainsFunc(rest, func(set map[string]json.RawMessage) bool { return len(set) > 0 }) {
		config, err := json.Marshal(rest)
		if err != nil {
			return err
		}
		y.matches = append(y.matches, Match{anyOf, config})
	}
	text, err := json.Marshal(sets) // sorted keys, no spaces
	y.reach += "\n" + string(text)
	return err
}

// answering are the handlers that respond to every request, unless an option makes them pass the
// request on.
var answering = []string{"error", "file_server", "metrics", "reverse_proxy", "static_response", Dashboard}

// handler has the relevant JSON fields of a handler.
type handler struct {
	Handler        string            `json:"handler"`
	Routes         []Route           `json:"routes"`
	PassThru       bool              `json:"pass_thru"`
	StatusCode     json.RawMessage   `json:"status_code"`
	HandleResponse []json.RawMessage `json:"handle_response"`
	Decide         json.RawMessage   `json:"decide"`
}

// handlerOf decodes a handler. It ignores the fields of other modules, since their meaning may
// differ.
func handlerOf(config json.RawMessage) (h handler, err error) {
	err = json.Unmarshal(config, &h)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		err = nil
	}
	return h, err
}

// answersAll reports whether a handler responds to every request. A handler that sends early hints
// passes the request on.
func (h *handler) answersAll() bool {
	hints := strings.Trim(string(h.StatusCode), `"`) == strconv.Itoa(http.StatusEarlyHints)
	if h.Handler == Guard {
		return h.Decide != nil
	}
	return slices.Contains(answering, h.Handler) && !h.PassThru && !hints && len(h.HandleResponse) == 0
}

// handler visits a handler and returns the way after it.
func (w *walk) handler(config json.RawMessage, here way) (way, error) {
	h, err := handlerOf(config)
	if err != nil {
		return here, err
	}
	if hidden := here.answered; hidden != nil && hidden.placed != nil && hidden.placed.Hides == "" && h.Handler != "subroute" {
		hidden.placed.Hides = h.Handler
	}
	var placed *Placed
	if h.Handler == Guard || h.Handler == Dashboard || h.Handler == RobotsTXT {
		placed = &Placed{
			Name: h.Handler, Config: config, Server: w.server, Hosts: here.hosts, Matches: here.matches,
			before: here.before, groups: here.groups, reach: here.reach, only: here.only,
		}
		if here.answered != nil {
			placed.Behind = here.answered.name
		}
		// Compute these here, since the handlers of this route get its group only at the end.
		placed.open, placed.cached = placed.isOpen(), placed.cachedBy()
		w.found = append(w.found, placed)
	}
	inner, err := w.routes(h.Routes, here)
	if err != nil {
		return here, err
	}
	here.answered = inner.answered
	here.before = &passed{
		name: h.Handler, hosts: here.hosts, reach: here.reach, matches: here.matches,
		asks: len(h.HandleResponse) > 0, before: inner.before, cache: inner.before.nearestCache(),
	}
	if here.answered == nil && h.answersAll() {
		here.answered = &answer{h.Handler, placed}
	}
	return here, nil
}
