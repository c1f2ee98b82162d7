package errorroutes

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/intercept"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/fastcgi"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// routeWalk follows a blocked request through routes without running what would
// answer it.
type routeWalk struct {
	*Finder
	server  *caddyhttp.Server
	request *http.Request
	depth   int
}

// passage is what is known of the request at one place of the routes.
type passage struct {
	rewritten bool // its path is certainly one that the owner chose
	ownFile   bool // so is the file that was looked for last
	front     bool // that path is of a script which goes by the URI that was asked for
	perhaps   bool // it may not come here at all
	answered  bool // it certainly comes no further
}

// newRouteWalk makes a request for a host that was blocked with a status after
// these variables were set.
func (f *Finder) newRouteWalk(server *caddyhttp.Server, host string, status int, vars []*caddyhttp.VarsMiddleware) *routeWalk {
	r := &http.Request{
		Method: http.MethodGet, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header), Body: http.NoBody,
		URL: &url.URL{Path: "/"}, RequestURI: "/", Host: host, RemoteAddr: f.Client + ":1",
	}
	repl := caddy.NewReplacer()
	r = caddyhttp.PrepareRequest(r.WithContext(context.Background()), repl, nil, server)
	f.Block(r)
	errorConfig := new(caddyhttp.HTTPErrorConfig)
	w := &routeWalk{
		Finder:  f,
		server:  server,
		request: errorConfig.WithError(r, caddyhttp.Error(status, errors.New("robots.txt does not allow this"))),
	}
	for _, v := range vars {
		w.set(v)
	}
	return w
}

// set sets variables, such as the root in which error pages are looked for.
func (w *routeWalk) set(vars *caddyhttp.VarsMiddleware) {
	_ = vars.ServeHTTP(nil, w.request, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil }))
}

// routes follows the request through a list of routes. It returns how it leaves
// them and the first handler that may serve the page which was asked for, "" if
// there is none.
func (w *routeWalk) routes(routes caddyhttp.RouteList, p passage) (after passage, found string) {
	if w.depth++; w.depth > request.MaxNesting {
		w.depth--
		return p, ""
	}
	defer func() { w.depth-- }()
	taken := make(map[string]bool) // groups of which a route is certainly run
	for _, route := range routes {
		if p.answered {
			break
		}
		if route.Group != "" && taken[route.Group] {
			continue
		}
		matches := w.matches(route.MatcherSets)
		switch matches {
		case never:
			continue
		case fails:
			p.answered = true
			return p, ""
		}
		inside := p
		inside.perhaps = p.perhaps || matches == perhaps
		if files := filesIn(route.MatcherSets); len(files) > 0 {
			inside.ownFile = true
			for _, file := range files {
				inside.ownFile = inside.ownFile && isOwnFile(file)
			}
		}
		if inside, found = w.handlers(route.Handlers, inside); found != "" {
			return inside, found
		}
		if matches == always {
			inside.perhaps = p.perhaps
			p = inside
			p.answered = p.answered || route.Terminal
			taken[route.Group] = true
		}
	}
	return p, ""
}

// handlers does so for the handlers of one route.
func (w *routeWalk) handlers(handlers []caddyhttp.MiddlewareHandler, p passage) (after passage, found string) {
	for _, handler := range handlers {
		if p.answered {
			break
		}
		switch handler := handler.(type) {
		case *caddyhttp.Subroute:
			p, found = w.routes(handler.Routes, p)
		case *caddyhttp.Invoke:
			if named, ok := w.server.NamedRoutes[handler.Name]; ok {
				p, found = w.routes(caddyhttp.RouteList{*named}, p)
			}
		case *caddyhttp.VarsMiddleware:
			if !p.perhaps {
				w.set(handler)
			}
		case *rewrite.Rewrite:
			if choosesPath(handler.URI, p) {
				p.rewritten, p.front = true, isFrontController(handler.URI)
			}
		case *intercept.Intercept:
			for _, response := range handler.HandleResponse { // whatever is answered in the end
				if _, found = w.routes(response.Routes, p); found != "" {
					break
				}
			}
		case *caddyhttp.StaticResponse, *caddyhttp.StaticError:
			p.answered = true
		case *fileserver.FileServer:
			if !p.rewritten {
				return p, "file_server"
			}
			p.answered = !handler.PassThru
		case *reverseproxy.Handler:
			if !p.rewritten && !(handler.Rewrite != nil && choosesPath(handler.Rewrite.URI, p)) {
				return p, "reverse_proxy"
			}
			if _, ok := handler.Transport.(*fastcgi.Transport); ok && p.front {
				return p, "php_fastcgi"
			}
			p.answered = len(handler.HandleResponse) == 0 // forward_auth may let it pass
		}
		if found != "" {
			return p, found
		}
	}
	return p, ""
}

// intercept follows an answer of a status through the routes of an intercept.
func (w *routeWalk) intercept(around *intercept.Intercept, status int, p passage) (found string) {
	for _, response := range around.HandleResponse {
		if response.Match == nil || response.Match.Match(status, make(http.Header)) {
			_, found = w.routes(response.Routes, p)
			return found
		}
	}
	return ""
}

// ofTheRequest begins the placeholders of what a client chooses.
const ofTheRequest = "{http.request."

// isFrontController reports whether a rewrite to uri leads to the script through which PHP
// applications such as WordPress answer all pages, by the URI that FastCGI tells them: the one
// that was asked for.
func isFrontController(uri string) bool {
	file, _, _ := strings.Cut(uri, "?")
	return path.Base(file) == "index.php"
}

// choosesPath reports whether a rewrite to uri replaces the path by one that the
// client has not chosen.
func choosesPath(uri string, p passage) bool {
	chosen, _, _ := strings.Cut(uri, "?")
	if strings.Contains(chosen, "{http.matchers.file.") && !p.ownFile {
		return false
	}
	return chosen != "" && !strings.Contains(chosen, ofTheRequest) && !strings.Contains(chosen, "{http.vars.")
}
