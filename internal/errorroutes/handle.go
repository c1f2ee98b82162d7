package errorroutes

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Any reports whether the request's server has error routes at all.
func Any(r *http.Request) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return ok && server.Errors != nil && len(server.Errors.Routes) > 0
}

// Handle reports whether an error route of the request's server handles
// this error. The routes are those of all sites on the listener, so their
// matchers decide.
func Handle(r *http.Request, err error) bool {
	if !Any(r) {
		return false
	}
	server := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return handles(server.Errors.Routes, server.Errors.WithError(r, err))
}

// handles reports whether one of the routes does anything about a request.
func handles(routes caddyhttp.RouteList, r *http.Request) bool {
	for _, route := range routes {
		if matches, err := route.MatcherSets.AnyMatchWithError(r); err != nil || !matches {
			continue
		}
		for _, handler := range route.Handlers {
			sub, ok := handler.(*caddyhttp.Subroute)
			if !ok || handles(sub.Routes, r) {
				return true
			}
		}
	}
	return false
}
