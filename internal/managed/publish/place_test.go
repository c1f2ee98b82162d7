package publish

import (
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

type pointed struct{ caddyhttp.MiddlewareHandler }

// TestPlacesBesideRedirectsToHTTPS uses a route with a handler type that is not a valid map key, like
// Caddy's redirects to HTTPS.
func TestPlacesBesideRedirectsToHTTPS(t *testing.T) {
	ours := new(pointed)
	redirect := caddyhttp.StaticResponse{StatusCode: "308", Headers: http.Header{"Location": {"https://a.test"}}}
	server := &caddyhttp.Server{Listen: []string{":80"}, Routes: caddyhttp.RouteList{
		{Handlers: []caddyhttp.MiddlewareHandler{redirect}},
		{Handlers: []caddyhttp.MiddlewareHandler{ours}},
	}}
	places := FindHandlerPlaces([]*caddyhttp.Server{server}, func(h caddyhttp.MiddlewareHandler) bool { _, ok := h.(*pointed); return ok })
	if p := places[ours]; len(places) != 1 || p.Name != ":80" {
		t.Errorf("places %+v", places)
	}
}
