package handlerorder

import (
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestLoopbackOnly checks which servers only local clients reach.
func TestLoopbackOnly(t *testing.T) {
	for listen, want := range map[string]bool{
		":443": false, "192.0.2.1:443": false, "example.com:443": false, "fd/3": false, "fdgram/4": false,
		"127.0.0.1:443": true, "[::1]:443": true, "localhost:443": true, "unix//run/caddy.sock": true,
	} {
		if got := isLoopbackOnly(&caddyhttp.Server{Listen: []string{"127.0.0.1:80", listen}}); got != want {
			t.Errorf("%s: %t, want %t", listen, got, want)
		}
	}
}

// TestCacheBeforeGuard checks that a cache with pages for browsers causes a warning. A cache for
// other requests or for some clients causes none.
func TestCacheBeforeGuard(t *testing.T) {
	const guard, cache = `{"handler": "robots_guard"}`, `{"handler": "cache"}`
	site := func(routes string) string {
		return `[{"match": [{"host": ["a"]}], "handle": [{"handler": "subroute", "routes": [` + routes + `]}], "terminal": true}]`
	}
	// first puts a cache with a matcher before the guard.
	first := func(match string) string {
		return site(`{"match": [` + match + `], "handle": [` + cache + `]}, {"handle": [` + guard + `]}`)
	}
	// only puts matchers on a cache and on a guard.
	only := func(cached, guarded string) string {
		return site(`{"match": [` + cached + `], "handle": [` + cache + `]}, {"match": [` + guarded + `], "handle": [` + guard + `]}`)
	}
	for name, test := range map[string]struct{ routes, want string }{
		"a cache":                       {site(`{"handle": [` + cache + `, ` + guard + `]}`), "cache"},
		"in a route of its own":         {site(`{"handle": [` + cache + `]}, {"handle": [` + guard + `]}`), "cache"},
		"around all sites":              {`[{"handle": [` + cache + `]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, "cache"},
		"in handle":                     {site(`{"group": "g", "match": [{"path": ["/x"]}], "handle": []}, {"group": "g", "handle": [{"handler": "subroute", "routes": [{"handle": [` + cache + `, ` + guard + `]}]}]}`), "cache"},
		"two caches":                    {site(`{"handle": [` + cache + `, {"handler": "souin"}, ` + guard + `]}`), "souin"},
		"behind the guard":              {site(`{"handle": [` + guard + `, ` + cache + `]}`), ""},
		"in another handle":             {site(`{"group": "g", "match": [{"path": ["/x"]}], "handle": [` + cache + `]}, {"group": "g", "handle": [` + guard + `]}`), ""},
		"of another site":               {`[{"match": [{"host": ["b"]}], "handle": [` + cache + `]}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, ""},
		"of another site, terminal":     {`[{"match": [{"host": ["b"]}], "handle": [` + cache + `], "terminal": true}, {"match": [{"host": ["a"]}], "handle": [` + guard + `]}]`, ""},
		"of pictures":                   {first(`{"path": ["*.png"]}`), "cache"},
		"without sessions":              {first(`{"header": {"Cookie": null}, "method": ["GET"]}`), "cache"},
		"of all but the API":            {first(`{"not": [{"path": ["/api/*"]}]}`), "cache"},
		"for people":                    {first(`{"not": [{"robots_crawler": {}}]}`), ""},
		"for some User-Agents":          {first(`{"header": {"user-agent": ["*Firefox*"]}}`), ""},
		"for some by regexp":            {first(`{"header_regexp": {"User-Agent": {"pattern": "Firefox"}}}`), ""},
		"by an expression":              {first(`{"expression": "x"}`), ""},
		"for some addresses":            {first(`{"remote_ip": {"ranges": ["10.0.0.0/8"]}}`), ""},
		"for all but some addresses":    {first(`{"not": [{"remote_ip": {"ranges": ["10.0.0.0/8"]}}]}`), ""},
		"for people or pictures":        {first(`{"not": [{"robots_crawler": {}}]}, {"path": ["*.png"]}`), ""},
		"of the paths of the guard":     {only(`{"path": ["/a/*"]}`, `{"path": ["/a/*"]}`), "cache"},
		"of other paths than the guard": {only(`{"path": ["/a/*"]}`, `{"path": ["/b/*"]}`), ""},
	} {
		got := ""
		for _, p := range placedIn(t, routesIn(t, test.routes)) {
			got += p.cacheName
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
