package site

import (
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/intercept"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

// RoutePlace says for which hosts a route is, and whether it handles errors.
type RoutePlace struct {
	// Hosts are the names in the route's host matchers, or else those of the enclosing routes. Nil
	// means any host.
	Hosts []string
	// IsErrorRoute is true for a route in handle_errors.
	IsErrorRoute bool
}

// MaxNesting is the maximum depth of nested routes, because named routes can invoke each other.
const MaxNesting = 30

// WalkRoutes calls visit for every route of a server and then for the nested routes: in subroutes,
// in invoked named routes, and in the response handlers of reverse_proxy and intercept. The error
// routes come last.
func WalkRoutes(server *caddyhttp.Server, visit func(RoutePlace, caddyhttp.Route)) {
	w := routeWalker{server, visit}
	w.walkRoutes(server.Routes, RoutePlace{}, 0)
	if server.Errors != nil {
		w.walkRoutes(server.Errors.Routes, RoutePlace{IsErrorRoute: true}, 0)
	}
}

type routeWalker struct {
	server *caddyhttp.Server
	visit  func(RoutePlace, caddyhttp.Route)
}

func (w routeWalker) walkRoutes(routes caddyhttp.RouteList, around RoutePlace, depth int) {
	if depth > MaxNesting {
		return
	}
	for _, route := range routes {
		here := around
		if own := HostsOfRoute(route); own != nil {
			here.Hosts = own
		}
		w.visit(here, route)
		for _, handler := range route.Handlers {
			switch handler := handler.(type) {
			case *caddyhttp.Subroute:
				w.walkRoutes(handler.Routes, here, depth+1)
			case *caddyhttp.Invoke:
				if named, ok := w.server.NamedRoutes[handler.Name]; ok {
					w.walkRoutes(caddyhttp.RouteList{*named}, here, depth+1)
				}
			case *reverseproxy.Handler:
				for _, response := range handler.HandleResponse {
					w.walkRoutes(response.Routes, here, depth+1)
				}
			case *intercept.Intercept:
				for _, response := range handler.HandleResponse {
					w.walkRoutes(response.Routes, here, depth+1)
				}
			}
		}
	}
}

// HostsOfRoute returns the names in the host matchers of a route, without those of enclosing
// routes, or nil.
func HostsOfRoute(route caddyhttp.Route) (names []string) {
	for _, set := range route.MatcherSets {
		for _, matcher := range set {
			if hosts, ok := matcher.(*caddyhttp.MatchHost); ok {
				names = append(names, *hosts...)
			}
		}
	}
	return names
}
