package errorroutes

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/intercept"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// undone is a block that the site's own routes can undo: they answer it with
// what the robots.txt forbids.
type undone struct {
	site    string // the hosts of the guard's site, "" for any
	handler string // what serves the page, such as file_server
	inside  string // the directive around it, handle_errors or intercept
	status  int
}

// Guard is what a guard may answer in place of the site.
type Guard struct {
	// Blocks says that it blocks, with an error of this status unless OnViolation takes
	// its place.
	Blocks bool
	Status int
	// Closes says that it may answer 503 while nobody knows the rules.
	Closes bool
	// Slows says that it may answer 429, which is no error, to crawlers that are too fast.
	Slows bool
	// OnViolation are the handlers that answer in its place.
	OnViolation caddyhttp.RouteList
}

// Finder looks for blocks that the routes of a server can undo.
type Finder struct {
	// GuardOf returns the guard that a handler is, nil if it is none.
	GuardOf func(caddyhttp.MiddlewareHandler) *Guard
	// IsOfVerdict reports whether a matcher looks at the verdict alone.
	IsOfVerdict func(matcher any) bool
	// Block makes a request one that a guard has blocked.
	Block func(*http.Request)
	// Client is an address that is nobody's.
	Client string
}

// Warn tells of blocks that can be undone in these servers, whose routes are
// provisioned.
func (f *Finder) Warn(servers []*caddyhttp.Server, logger *zap.Logger) {
	for _, server := range servers {
		for _, u := range f.undoneBlocks(server) {
			logger.Warn(u.who()+" nevertheless: "+u.inside+" of this site answers the block by "+u.handler+", which is asked for the same path again; "+
				"put a rewrite to an error page before it, let it handle other statuses only, or answer blocks by on_violation",
				zap.String("site", u.site), zap.Int("status", u.status))
		}
	}
}

// who tells who can get what it should not.
func (u *undone) who() string {
	if u.status == http.StatusTooManyRequests && u.inside == "intercept" {
		return "a crawler that is slowed can get the page"
	}
	return "a blocked crawler can get the forbidden page"
}

// undoneBlocks returns the blocks of a server's guards that its routes can undo,
// at most one for each guard.
//
// A guard's error is followed through the error routes as Caddy would run them:
// by their order, groups and hosts, by conditions on the error or the verdict,
// and by which files of error pages are there now. A block counts as undone
// where file_server or reverse_proxy (php_fastcgi is one) can be reached while
// the path is still the one that was asked for, or php_fastcgi with an
// index.php. Other conditions, such as on a path or a header, may or may not
// hold. Where no error route answers, the guard's own answer is followed
// through intercept.
//
// Not found are: handlers of other modules that serve content, an expression
// that wants our status and something else of the request, a rewrite that leads
// back to the page or to another script that looks at the original URI, error routes
// of a subroute (which no Caddyfile makes), and error pages that are removed
// later.
func (f *Finder) undoneBlocks(server *caddyhttp.Server) (found []undone) {
	var errorRoutes hostIndex
	if server.Errors != nil {
		errorRoutes = indexHosts(server.Errors.Routes)
	}
	for _, g := range f.blockingGuards(server) {
		if u, ok := f.undone(&g, server, errorRoutes); ok {
			found = append(found, u)
		}
	}
	return found
}

// placedGuard is a guard in the routes of a server.
type placedGuard struct {
	*Guard
	hosts  []string // that lead to it, none for any
	before []request.Passed
}

func (f *Finder) undone(g *placedGuard, server *caddyhttp.Server, errorRoutes hostIndex) (undone, bool) {
	errors, answers := g.statuses()
	var vars []*caddyhttp.VarsMiddleware
	var intercepts []*intercept.Intercept
	for _, passed := range g.before {
		switch handler := passed.Handler.(type) {
		case *caddyhttp.VarsMiddleware:
			if passed.Always {
				vars = append(vars, handler)
			}
		case *intercept.Intercept:
			intercepts = append(intercepts, handler)
		}
	}
	if len(intercepts) == 0 && server.Errors == nil {
		return undone{}, false // as of most sites, and there may be thousands
	}
	for _, host := range g.sampleHosts() {
		u := undone{site: strings.Join(g.hosts, ", "), inside: "handle_errors"}
		caught := make(map[int]bool)
		for _, u.status = range errors {
			w := f.newRouteWalk(server, host, u.status, vars)
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
			w := f.newRouteWalk(server, host, u.status, vars)
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
	if g.Slows {
		answers = append(answers, http.StatusTooManyRequests)
	}
	if !g.Blocks {
		return errors, answers
	}
	if len(g.OnViolation) == 0 {
		errors = append(errors, g.Status)
	}
	if g.Closes {
		errors = append(errors, 503)
	}
	answers = append(answers, errors...)
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

// blockingGuards returns the guards of a server that block.
func (f *Finder) blockingGuards(server *caddyhttp.Server) (found []placedGuard) {
	request.Walk(server, func(p request.Place, route caddyhttp.Route) {
		before := p.Before
		for _, handler := range route.Handlers {
			if guard := f.GuardOf(handler); guard != nil && !p.Errors {
				found = append(found, placedGuard{guard, p.Hosts, slices.Clip(before)})
			}
			before = request.Pass(before, route, handler)
		}
	})
	return found
}

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
		names := request.HostsOf(route)
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
