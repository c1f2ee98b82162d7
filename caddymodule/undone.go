package caddymodule

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/intercept"
	"go.uber.org/zap"
)

// undone is a block that the site's own routes can undo: they answer it with
// what the robots.txt forbids.
type undone struct {
	site    string // the hosts of the guard's site, "" for any
	handler string // what serves the page, such as file_server
	inside  string // the directive around it, handle_errors or intercept
	status  int
}

// warnOfUndone looks for blocks that can be undone in all servers of the
// configuration. It is for Start, when all their routes are provisioned.
func (a *App) warnOfUndone() {
	app, err := a.ctx.AppIfConfigured("http")
	if err != nil {
		return // then there is no guard
	}
	servers, ok := app.(*caddyhttp.App)
	if !ok {
		return
	}
	for _, server := range servers.Servers {
		for _, u := range undoneBlocks(server) {
			a.logger.Warn("a blocked crawler can get the forbidden page nevertheless: "+u.inside+" of this site answers the block by "+u.handler+", which is asked for the same path again; "+
				"put a rewrite to an error page before it, let it handle other statuses only, or answer blocks by on_violation",
				zap.String("site", u.site), zap.Int("status", u.status))
		}
	}
}

// undoneBlocks returns the blocks of a server's guards that its routes can undo,
// at most one for each guard.
//
// A guard's error is followed through the error routes as Caddy would run them:
// by their order, groups and hosts, by conditions on the error or the verdict,
// and by which files of error pages are there now. A block counts as undone
// where file_server or reverse_proxy (php_fastcgi is one) can be reached while
// the path is still the one that was asked for. Other conditions, such as on a
// path or a header, may or may not hold. Where no error route answers, the
// guard's own answer is followed through intercept.
//
// Not found are: handlers of other modules that serve content, an expression
// that wants our status and something else of the request, a rewrite that leads
// back to the page or to a script that looks at the original URI, error routes
// of a subroute (which no Caddyfile makes), and error pages that are removed
// later.
func undoneBlocks(server *caddyhttp.Server) (found []undone) {
	var errorRoutes hostIndex
	if server.Errors != nil {
		errorRoutes = indexHosts(server.Errors.Routes)
	}
	guards := &guardWalk{server: server}
	guards.routes(server.Routes, nil, nil)
	for _, g := range guards.found {
		if u, ok := g.undone(server, errorRoutes); ok {
			found = append(found, u)
		}
	}
	return found
}

// placedGuard is a guard in the routes of a server.
type placedGuard struct {
	*Handler
	hosts  []string                      // that lead to it, none for any
	before []caddyhttp.MiddlewareHandler // the intercepts and vars before it
}

func (g *placedGuard) undone(server *caddyhttp.Server, errorRoutes hostIndex) (undone, bool) {
	errors, answers := g.statuses()
	var vars []*caddyhttp.VarsMiddleware
	var intercepts []*intercept.Intercept
	for _, handler := range g.before {
		switch handler := handler.(type) {
		case *caddyhttp.VarsMiddleware:
			vars = append(vars, handler)
		case *intercept.Intercept:
			intercepts = append(intercepts, handler)
		}
	}
	for _, host := range g.sampleHosts() {
		u := undone{site: strings.Join(g.hosts, ", "), inside: "handle_errors"}
		caught := make(map[int]bool)
		for _, u.status = range errors {
			w := newRouteWalk(server, host, u.status, vars)
			var end passage
			if end, u.handler = w.routes(errorRoutes.of(host), passage{}); u.handler != "" {
				return u, true
			}
			caught[u.status] = end.answered
		}
		u.inside = "intercept"
		for _, u.status = range answers {
			if caught[u.status] {
				continue // the guard writes nothing itself
			}
			w := newRouteWalk(server, host, u.status, vars)
			for _, around := range intercepts {
				if u.handler = w.intercept(around, u.status, passage{}); u.handler != "" {
					return u, true
				}
			}
		}
	}
	return undone{}, false
}

// statuses returns those of the errors that the guard may return, and those of
// the answers that it may write.
func (g *placedGuard) statuses() (errors, answers []int) {
	if len(g.OnViolation) == 0 {
		errors = append(errors, g.Status)
	}
	if g.Unreachable == unreachableDisallow || g.Unreachable == unreachableGoogle {
		errors = append(errors, 503)
	}
	answers = slices.Clone(errors)
	eachHandler(g.OnViolation, func(handler caddyhttp.MiddlewareHandler) {
		switch handler := handler.(type) {
		case *caddyhttp.StaticError:
			errors = append(errors, statusOf(handler.StatusCode, 500))
		case *caddyhttp.StaticResponse:
			answers = append(answers, statusOf(handler.StatusCode, 200))
		}
	})
	return errors, answers
}

// statusOf returns a configured status, or what none or a placeholder comes to.
func statusOf(configured caddyhttp.WeakString, otherwise int) int {
	if status, err := strconv.Atoi(configured.String()); err == nil {
		return status
	}
	return otherwise
}

// sampleHosts returns a host for each of those that lead to the guard.
func (g *placedGuard) sampleHosts() []string {
	if len(g.hosts) == 0 {
		return []string{"robots-guard.invalid"} // RFC 6761: nobody's
	}
	sample := strings.NewReplacer("*", "robots-guard")
	all := make([]string, 0, len(g.hosts))
	for _, host := range g.hosts {
		all = append(all, sample.Replace(caddy.NewReplacer().ReplaceAll(host, "robots-guard")))
	}
	return all
}

// guardWalk collects the guards of a server that block.
type guardWalk struct {
	server *caddyhttp.Server
	found  []placedGuard
	depth  int
}

func (w *guardWalk) routes(routes caddyhttp.RouteList, hosts []string, before []caddyhttp.MiddlewareHandler) {
	if w.depth++; w.depth > maxNesting {
		w.depth--
		return
	}
	defer func() { w.depth-- }()
	for _, route := range routes {
		hosts := hosts
		if own := hostsIn(route.MatcherSets); len(own) > 0 {
			hosts = own
		}
		for _, handler := range route.Handlers {
			switch handler := handler.(type) {
			case *Handler:
				if handler.Mode == modeEnforce {
					w.found = append(w.found, placedGuard{handler, hosts, slices.Clone(before)})
				}
			case *intercept.Intercept:
				before = append(before, handler)
			case *caddyhttp.VarsMiddleware:
				if len(route.MatcherSets) == 0 {
					before = append(before, handler)
				}
			case *caddyhttp.Subroute:
				w.routes(handler.Routes, hosts, slices.Clone(before))
			case *caddyhttp.Invoke:
				if named, ok := w.server.NamedRoutes[handler.Name]; ok {
					w.routes(caddyhttp.RouteList{*named}, hosts, slices.Clone(before))
				}
			}
		}
	}
}

// maxNesting bounds how deep routes are followed: named routes can invoke each
// other.
const maxNesting = 30

// eachHandler calls f for the handlers of routes and of those nested in them.
func eachHandler(routes caddyhttp.RouteList, f func(caddyhttp.MiddlewareHandler)) {
	for _, route := range routes {
		for _, handler := range route.Handlers {
			if sub, ok := handler.(*caddyhttp.Subroute); ok {
				eachHandler(sub.Routes, f)
			}
			f(handler)
		}
	}
}

// hostsIn returns the names in the host matchers of a route.
func hostsIn(sets caddyhttp.MatcherSets) (names []string) {
	for _, set := range sets {
		for _, matcher := range set {
			if host, ok := matcher.(*caddyhttp.MatchHost); ok {
				names = append(names, *host...)
			}
		}
	}
	return names
}

// hostIndex finds the routes that may be for a host among those of very many
// sites.
type hostIndex struct {
	routes caddyhttp.RouteList
	exact  map[string][]int // places of routes that are for this host
	rest   []int            // places of all others
}

func indexHosts(routes caddyhttp.RouteList) hostIndex {
	x := hostIndex{routes: routes, exact: make(map[string][]int)}
	for i, route := range routes {
		names := hostsIn(route.MatcherSets)
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name, "*{") }) {
			x.rest = append(x.rest, i)
			continue
		}
		for _, name := range names {
			x.exact[strings.ToLower(name)] = append(x.exact[strings.ToLower(name)], i)
		}
	}
	return x
}

// of returns the routes that may be for a host, in their order.
func (x hostIndex) of(host string) (routes caddyhttp.RouteList) {
	places := slices.Concat(x.rest, x.exact[strings.ToLower(host)])
	slices.Sort(places)
	for _, i := range slices.Compact(places) {
		routes = append(routes, x.routes[i])
	}
	return routes
}
