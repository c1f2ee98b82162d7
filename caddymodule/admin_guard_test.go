package caddymodule

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// TestGuardOfAURL finds the guard of a URL, first by the port of the server and then by the host.
func TestGuardOfAURL(t *testing.T) {
	guards := make(map[caddyhttp.MiddlewareHandler]string)
	route := func(name string, hosts ...string) caddyhttp.Route {
		h := new(Handler)
		provisionedGuard(t, h, nil)
		guards[h] = name
		r := caddyhttp.Route{Handlers: []caddyhttp.MiddlewareHandler{h}}
		if len(hosts) > 0 {
			// The Caddyfile adapter makes the same matcher.
			match := caddyhttp.MatchHost(hosts)
			r = caddyhttp.Route{
				MatcherSets: caddyhttp.MatcherSets{{&match}},
				Handlers:    []caddyhttp.MiddlewareHandler{&caddyhttp.Subroute{Routes: caddyhttp.RouteList{r}}},
			}
		}
		return r
	}
	servers := []*caddyhttp.Server{
		{Listen: []string{":443"}, Routes: caddyhttp.RouteList{route("any at 443"), route("wildcard at 443", "*.shop.test"), route("shop at 443", "shop.test")}},
		{Listen: []string{"127.0.0.1:8001", ":9000-9010"}, Routes: caddyhttp.RouteList{route("shop at 8001", "shop.test")}},
		{Listen: []string{"unix//run/caddy.sock", "tcp4/0.0.0.0:8002"}, Routes: caddyhttp.RouteList{route("shop at 8002", "www.shop.test", "shop.test"), route("blog at 8002", "blog.test")}},
	}
	for _, tc := range []struct{ url, host, want string }{
		{"https://shop.test/x", "shop.test", "shop at 443"},
		{"https://Shop.test:443/x", "shop.test", "shop at 443"},
		{"http://shop.test:8001/x", "shop.test", "shop at 8001"},
		{"http://shop.test:8002/x", "shop.test", "shop at 8002"},
		{"http://shop.test:9005", "shop.test", "shop at 8001"},
		{"https://a.shop.test/", "a.shop.test", "wildcard at 443"},
		{"https://blog.test/", "blog.test", "any at 443"},
		{"http://blog.test:8002/", "blog.test", "blog at 8002"},
		// No server listens at the port, as behind a proxy with another port. The host alone
		// selects the guard.
		{"http://blog.test:7000/", "blog.test", "blog at 8002"},
		{"http://shop.test/", "shop.test", "shop at 443"},
		{"http://other.test:8001/", "other.test", "any at 443"},
		{"/x", "", ""},
	} {
		host, found := (runningConfig{servers: servers}).Guard(tc.url)
		if host != tc.host || (found == nil) != (tc.want == "") {
			t.Errorf("%s: host %q, %+v", tc.url, host, found)
		}
		if tc.host == "" {
			continue
		}
		if got := guards[site.FindHandler(servers, addr.AuthorityOfURL(tc.url), tc.url[:5] == "https", isGuard).Handler]; got != tc.want {
			t.Errorf("%s: the guard of %q, want %q", tc.url, got, tc.want)
		}
	}
	if host, found := (runningConfig{servers: servers[1:]}).Guard("https://other.test/"); host != "other.test" || found != nil {
		t.Errorf("unexpected guard: %q, %+v", host, found)
	}
}

// TestExplainOfTwoServers selects one of two servers with the same host by the port of the URL.
func TestExplainOfTwoServers(t *testing.T) {
	servers := make(map[string]any)
	ports := make(map[string]string)
	for mode, name := range map[string]string{modeMonitor: "a", modeEnforce: "b"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, ports[mode], _ = net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		servers[name] = map[string]any{
			"listen":          []string{"127.0.0.1:" + ports[mode]},
			"automatic_https": map[string]any{"disable": true},
			"routes": []any{map[string]any{
				"match":  []any{map[string]any{"host": []string{"shop.test"}}},
				"handle": []any{map[string]any{"handler": "robots_guard", "mode": mode}},
			}},
		}
	}
	config, err := json.Marshal(map[string]any{
		"admin":   map[string]any{"disabled": true, "config": map[string]any{"persist": false}},
		"logging": map[string]any{"logs": map[string]any{"default": map[string]any{"writer": map[string]any{"output": "discard"}}}},
		"apps":    map[string]any{"http": map[string]any{"servers": servers}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Load(config, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = caddy.Stop() })
	ask := func(authority string) (mode string) {
		t.Helper()
		w := httptest.NewRecorder()
		body := `{"user_agent":"GPTBot/1.3","url":"http://` + authority + `/x"}`
		r := httptest.NewRequest(http.MethodPost, "/robots_guard/explain", strings.NewReader(body))
		routes := adminAPI{}.Routes()
		i := slices.IndexFunc(routes, func(route caddy.AdminRoute) bool { return route.Pattern == admin.ExplainPath })
		if err := routes[i].Handler.ServeHTTP(w, r); err != nil {
			t.Fatal(err)
		}
		var e explain.Explanation
		decodeJSON(t, w.Body.String(), &e)
		return e.Handler.Mode
	}
	for mode, port := range ports {
		if got := ask("shop.test:" + port); got != mode {
			t.Errorf("at the port of the server in %s mode: %s", mode, got)
		}
	}
	if got := ask("shop.test"); got != modeMonitor {
		t.Errorf("at no server's port: %s, want that of the first by its name", got)
	}
}

// TestGuardBehindARedirect finds the guard for a client that Caddy redirects to https.
func TestGuardBehindARedirect(t *testing.T) {
	h := new(Handler)
	provisionedGuard(t, h, nil)
	match := caddyhttp.MatchHost{"shop.test"}
	site := caddyhttp.MatcherSets{{&match}}
	redirect := func(location string) caddyhttp.RouteList { // in the form of Caddy's redirects
		return caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{caddyhttp.MatchProtocol("http"), match}}, Handlers: []caddyhttp.MiddlewareHandler{
			caddyhttp.StaticResponse{StatusCode: "308", Headers: http.Header{"Location": []string{location}}},
		}}}
	}
	secure := &caddyhttp.Server{Listen: []string{":443", ":8443"}, TLSConnPolicies: caddytls.ConnectionPolicies{{}},
		Routes: caddyhttp.RouteList{{MatcherSets: site, Handlers: []caddyhttp.MiddlewareHandler{h}}}}
	for location, want := range map[string]string{
		"https://{http.request.host}{http.request.uri}":      "shop.test",
		"https://{http.request.host}:8443{http.request.uri}": "shop.test:8443",
		"https://elsewhere.test/":                            "",
	} {
		r := runningConfig{servers: []*caddyhttp.Server{secure, {Listen: []string{":80"}, Routes: redirect(location)}}}
		_, found := r.Guard("http://shop.test/x")
		if found == nil || found.HTTPSTarget != want || found.Key.IsHTTPS != (want != "") || want != "" && found.Key.Host != want {
			t.Errorf("%s: %+v, want a redirect to %q", location, found, want)
		}
		if _, found := r.Guard("https://shop.test/x"); found == nil || found.HTTPSTarget != "" || !found.Key.IsHTTPS {
			t.Errorf("%s: by https %+v", location, found)
		}
	}
}

// TestGuardNextToARedirect sends requests to a guard, or to no handler of this module, while Caddy
// redirects others.
func TestGuardNextToARedirect(t *testing.T) {
	h := new(Handler)
	provisionedGuard(t, h, nil)
	hosts := func(name string) caddyhttp.MatcherSets {
		match := caddyhttp.MatchHost{name}
		return caddyhttp.MatcherSets{{&match}}
	}
	redirect := []caddyhttp.MiddlewareHandler{caddyhttp.StaticResponse{StatusCode: "308", Headers: http.Header{"Location": []string{"https://{http.request.host}{http.request.uri}"}}}}
	guarded := caddyhttp.RouteList{{MatcherSets: hosts("shop.test"), Handlers: []caddyhttp.MiddlewareHandler{h}}}
	other := &caddyhttp.Server{Listen: []string{":443"}, TLSConnPolicies: caddytls.ConnectionPolicies{{}},
		Routes: caddyhttp.RouteList{{MatcherSets: hosts("other.test"), Handlers: []caddyhttp.MiddlewareHandler{h}}}}
	for name, servers := range map[string][]*caddyhttp.Server{
		"behind a mapped port, next to a redirect of all other hosts": {{Listen: []string{":8080"}, Routes: guarded}, {Listen: []string{":80"}, Routes: caddyhttp.RouteList{{Handlers: redirect}}}, other},
		"with an answer before the redirect": {
			{Listen: []string{":443"}, TLSConnPolicies: caddytls.ConnectionPolicies{{}}, Routes: guarded},
			{Listen: []string{":80"}, Routes: caddyhttp.RouteList{
				{MatcherSets: hosts("shop.test"), Handlers: []caddyhttp.MiddlewareHandler{&caddyhttp.StaticResponse{}}}, {MatcherSets: caddyhttp.MatcherSets{{caddyhttp.MatchHost{"shop.test"}}}, Handlers: redirect},
			}},
		},
	} {
		if _, found := (runningConfig{servers: servers}).Guard("http://shop.test/x"); found != nil && found.HTTPSTarget != "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestGuardOfSeveral reports that a site has another guard which may judge the request.
func TestGuardOfSeveral(t *testing.T) {
	h := new(Handler)
	provisionedGuard(t, h, nil)
	route := func(host, path string) caddyhttp.Route {
		hosts, paths := caddyhttp.MatchHost{host}, caddyhttp.MatchPath{path}
		return caddyhttp.Route{MatcherSets: caddyhttp.MatcherSets{{&hosts, &paths}}, Handlers: []caddyhttp.MiddlewareHandler{h}}
	}
	r := runningConfig{servers: []*caddyhttp.Server{
		{Listen: []string{":80"}, Routes: caddyhttp.RouteList{route("shop.test", "/a"), route("shop.test", "/b"), route("*.test", "*"), route("one.test", "*")}},
		{Listen: []string{":8080"}, Routes: caddyhttp.RouteList{route("shop.test", "*")}},
	}}
	for url, want := range map[string]bool{"http://shop.test/a": true, "http://one.test/": false, "http://other.test/": false, "http://shop.test:8080/": false} {
		if _, found := r.Guard(url); found == nil || found.Ambiguous != want {
			t.Errorf("%s: %+v, want several %t", url, found, want)
		}
	}
}
