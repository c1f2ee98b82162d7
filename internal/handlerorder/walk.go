package handlerorder

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

// Server has the parts of a configured server that this package needs: the routes, the addresses,
// and whether automatic HTTPS redirects http requests.
type Server struct {
	Listen    []string `json:"listen"`
	Routes    []Route  `json:"routes"`
	AutoHTTPS struct {
		Disable          bool `json:"disable"`
		DisableRedirects bool `json:"disable_redirects"`
	} `json:"automatic_https"`
}

// PlacedHandlers returns the handlers of [FindHandlers] in a server's routes, with the server's
// addresses.
func (s Server) PlacedHandlers(name string) ([]*PlacedHandler, error) {
	placed, err := FindHandlers(name, s.Routes)
	for _, p := range placed {
		p.Listen, p.HasHTTPSRedirect = s.Listen, !s.AutoHTTPS.Disable && !s.AutoHTTPS.DisableRedirects
	}
	return placed, err
}

// FindHandlers returns the handlers of this module in the routes of a server, in order.
// FindHandlers omits handlers in error routes, in named routes and in routes for responses.
func FindHandlers(server string, routes []Route) ([]*PlacedHandler, error) {
	w := routeWalker{server: server}
	_, err := w.walkRoutes(routes, routePosition{})
	return w.handlers, err
}

type routeWalker struct {
	server    string
	handlers  []*PlacedHandler
	unguarded []unguardedMatcher
}

// unguardedMatcher is a matcher that uses the verdict of a guard, without a guard before it.
type unguardedMatcher struct {
	Matcher
	site string
}

// routePosition describes the handlers and matchers before a position in the routes.
type routePosition struct {
	hosts      []string
	matchers   []Matcher
	requestKey string
	previous   *precedingHandler
	groups     []string
	exactPath  string             // exactPath is a path that a matcher requires, or empty.
	responder  *respondingHandler // responder is nil if a request may reach this position.
}

// respondingHandler is a handler that responds to every request.
type respondingHandler struct {
	name    string
	handler *PlacedHandler // handler is nil for a handler of another module.
}

// walkRoutes visits the handlers of routes and returns the position after the routes.
func (w *routeWalker) walkRoutes(routes []Route, outer routePosition) (routePosition, error) {
	after := outer
	for i, route := range routes {
		here := after
		if route.Group != "" { // A request uses a single route of a group.
			here.groups = append(slices.Clip(here.groups), route.Group)
			here.requestKey += "\n" + route.Group + " " + strconv.Itoa(i)
		}
		if err := here.addMatchers(route.Match); err != nil {
			return after, err
		}
		if m, ok := findVerdictMatcher(route.Match); ok && !here.isGuarded() {
			w.unguarded = append(w.unguarded, unguardedMatcher{m, siteName(w.server, here.hosts)})
		}
		for _, handler := range route.Handle {
			var err error
			if here, err = w.walkHandler(handler, here); err != nil {
				return after, err
			}
		}
		isConditional := len(route.Match) > 0 || route.Group != ""
		if route.Terminal && isConditional {
			continue // This route ends the requests that it matches, so later routes get other requests.
		}
		for p := here.previous; route.Group != "" && p != after.previous; p = p.previous {
			p.group = route.Group
		}
		after.previous = here.previous
		if !isConditional {
			after.responder = here.responder
		}
	}
	return after, nil
}

// isGuarded reports whether a request at this position may have passed a guard. An invoked named
// route may contain a guard.
func (y *routePosition) isGuarded() bool {
	for b := y.previous; b != nil; b = b.previous {
		if (b.name == Guard || b.name == "invoke") && !slices.Contains(y.groups, b.group) && hostsOverlap(b.hosts, y.hosts) {
			return true
		}
	}
	return false
}

// addMatchers adds the matchers of a route, which a request at this position has passed.
func (y *routePosition) addMatchers(sets []map[string]json.RawMessage) error {
	if len(sets) == 0 {
		return nil
	}
	var hosts []string
	otherMatchers, anyHost := make([]map[string]json.RawMessage, len(sets)), false
	for i, set := range sets {
		otherMatchers[i] = maps.Clone(set)
		delete(otherMatchers[i], "host")
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
	y.matchers = slices.Clip(y.matchers)
	if len(otherMatchers) == 1 {
		y.matchers = append(y.matchers, sortedMatchers(otherMatchers[0])...)
		y.exactPath = cmp.Or(exactPathOfMatcher(otherMatchers[0]["path"]), y.exactPath)
	} else if slices.ContainsFunc(otherMatchers, func(set map[string]json.RawMessage) bool { return len(set) > 0 }) {
		config, err := json.Marshal(otherMatchers)
		if err != nil {
			return err
		}
		y.matchers = append(y.matchers, Matcher{anyOf, config})
	}
	text, err := json.Marshal(sets) // The key is JSON with sorted keys and without spaces.
	y.requestKey += "\n" + string(text)
	return err
}

// respondingHandlers are the handlers that respond to every request, unless an option makes them
// pass the request on.
var respondingHandlers = []string{"error", "file_server", "metrics", "reverse_proxy", "static_response", Dashboard}

// handlerConfig has the relevant JSON fields of a handler.
type handlerConfig struct {
	Handler        string            `json:"handler"`
	Routes         []Route           `json:"routes"`
	PassThru       bool              `json:"pass_thru"`
	StatusCode     json.RawMessage   `json:"status_code"`
	HandleResponse []json.RawMessage `json:"handle_response"`
	Decide         json.RawMessage   `json:"decide"`
}

// decodeHandler decodes a handler. decodeHandler ignores fields with an unexpected type, since a
// field of another module may have the same name and another meaning.
func decodeHandler(config json.RawMessage) (h handlerConfig, err error) {
	err = json.Unmarshal(config, &h)
	if _, isTypeError := errors.AsType[*json.UnmarshalTypeError](err); isTypeError {
		err = nil
	}
	return h, err
}

// respondsAlways reports whether a handler responds to every request. A handler that sends early hints
// passes the request on.
func (h *handlerConfig) respondsAlways() bool {
	isEarlyHints := strings.Trim(string(h.StatusCode), `"`) == strconv.Itoa(http.StatusEarlyHints)
	if h.Handler == Guard {
		return h.Decide != nil
	}
	return slices.Contains(respondingHandlers, h.Handler) && !h.PassThru && !isEarlyHints && len(h.HandleResponse) == 0
}

// walkHandler visits a handler with its nested routes and returns the position after the handler.
func (w *routeWalker) walkHandler(config json.RawMessage, here routePosition) (routePosition, error) {
	h, err := decodeHandler(config)
	if err != nil {
		return here, err
	}
	if earlier := here.responder; earlier != nil && earlier.handler != nil && earlier.handler.BlockedHandler == "" && h.Handler != "subroute" {
		earlier.handler.BlockedHandler = h.Handler
	}
	var placed *PlacedHandler
	if h.Handler == Guard || h.Handler == Dashboard || h.Handler == RobotsTXT {
		placed = &PlacedHandler{
			Name: h.Handler, Config: config, Server: w.server, Hosts: here.hosts, Matchers: here.matchers,
			precedingHandlers: here.previous, groups: here.groups, requestKey: here.requestKey, exactPath: here.exactPath,
		}
		if here.responder != nil {
			placed.BlockingHandler = here.responder.name
		}
		// Compute these here, since the handlers of this route get its group only at the end.
		placed.isUnauthenticated, placed.cacheName = placed.lacksAuthentication(), placed.precedingCache()
		w.handlers = append(w.handlers, placed)
	}
	inner, err := w.walkRoutes(h.Routes, here)
	if err != nil {
		return here, err
	}
	here.responder = inner.responder
	here.previous = &precedingHandler{
		name: h.Handler, hosts: here.hosts, requestKey: here.requestKey, matchers: here.matchers,
		asksOtherServer: len(h.HandleResponse) > 0, previous: inner.previous, cache: inner.previous.nearestCache(),
	}
	if here.responder == nil && h.respondsAlways() {
		here.responder = &respondingHandler{h.Handler, placed}
	}
	return here, nil
}
