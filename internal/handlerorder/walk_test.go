package handlerorder

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func placedIn(t *testing.T, routes []Route) []*PlacedHandler {
	t.Helper()
	placed, err := FindHandlers("srv0", routes)
	if err != nil {
		t.Fatal(err)
	}
	return placed
}

func routesIn(t *testing.T, text string) (routes []Route) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &routes); err != nil {
		t.Fatal(err)
	}
	return routes
}

// TestGuardBehindOthers has handlers of other modules with Caddy's field names, and handlers that
// send early hints. None of them prevents loading the configuration.
func TestGuardBehindOthers(t *testing.T) {
	for _, before := range []string{
		`{"handler": "other", "routes": {"a": 1}, "pass_thru": "yes", "status_code": [1], "handle_response": 5}`,
		`{"handler": "other", "routes": ["a"]}`,
		`{"handler": "static_response", "status_code": 103}`,
		`{"handler": "static_response", "status_code": "103"}`,
	} {
		placed := placedIn(t, routesIn(t, `[{"handle": [`+before+`, {"handler": "robots_guard"}]}]`))
		if len(placed) != 1 || checkGuards(placed) != nil {
			t.Errorf("behind %s: %v", before, checkGuards(placed))
		}
	}
}

// odd is a handler without a JSON form.
type odd struct{ Choose func() }

func (odd) CaddyModule() caddy.ModuleInfo { return caddy.ModuleInfo{ID: "http.handlers.odd"} }

func (odd) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

func TestGuardBehindOddHandler(t *testing.T) {
	routes := routesAsJSON(caddyhttp.RouteList{
		{Handlers: []caddyhttp.MiddlewareHandler{odd{}}},
		{HandlersRaw: []json.RawMessage{json.RawMessage(`{"handler": "robots_guard"}`)}},
	})
	if placed := placedIn(t, routes); len(placed) != 1 {
		t.Errorf("got %v", placed)
	}
}

// TestDashboardBehindRobotsTxt checks that a dashboard after a robots_txt is reachable.
func TestDashboardBehindRobotsTxt(t *testing.T) {
	for before, want := range map[string]bool{"robots_txt": true, "authentication": false} {
		placed := placedIn(t, routesIn(t, `[{"handle": [{"handler": "`+before+`"}, {"handler": "robots_guard_dashboard"}]}]`))
		if d := placed[len(placed)-1]; d.Name != Dashboard || d.isUnauthenticated != want {
			t.Errorf("behind %s it is open: %t", before, d.isUnauthenticated)
		}
	}
}

// TestTextPlaces checks that two robots_txt for the same requests are an error.
func TestTextPlaces(t *testing.T) {
	for routes, want := range map[string]string{
		`[{"handle": [{"handler": "robots_txt"}, {"handler": "robots_guard"}]}]`:                                                                     "",
		`[{"handle": [{"handler": "robots_txt"}, {"handler": "robots_txt"}]}]`:                                                                       "robots_txt appears twice",
		`[{"handle": [{"handler": "file_server"}, {"handler": "robots_txt"}]}]`:                                                                      "robots_txt comes after file_server",
		`[{"handle": [{"handler": "file_server", "pass_thru": true}, {"handler": "robots_txt"}]}]`:                                                   "",
		`[{"match": [{"host": ["a"]}], "handle": [{"handler": "robots_txt"}]}, {"match": [{"host": ["b"]}], "handle": [{"handler": "robots_txt"}]}]`: "",
	} {
		err := checkRobotsTXT(placedIn(t, routesIn(t, routes)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", routes, err, want)
		}
	}
}
