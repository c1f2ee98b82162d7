package site

import (
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestOtherKeys tells what a site may have been called, and leaves what is the site of
// another server: its robots.txt is another one.
func TestOtherKeys(t *testing.T) {
	serve := func(listen string, hosts ...string) *caddyhttp.Server {
		route := caddyhttp.Route{Handlers: []caddyhttp.MiddlewareHandler{new(caddyhttp.Subroute)}}
		if len(hosts) > 0 {
			route.MatcherSets = caddyhttp.MatcherSets{{new(caddyhttp.MatchHost(hosts))}}
		}
		return &caddyhttp.Server{Listen: []string{listen}, Routes: caddyhttp.RouteList{route}}
	}
	own := serve("192.0.2.1:80", "a.example.com")
	for _, key := range []policy.Key{
		{Site: "a.example.com", Host: "a.example.com:81"},
		{Site: "*.example.com", Server: "192.0.2.1:80", Host: "a.example.com:81", ForwardedHost: "b.example.com"},
	} {
		site := NewSite(key)
		others := site.formerKeys(own)
		for _, site := range []string{"a.example.com", "*.example.com", ""} {
			for _, server := range []string{"", "192.0.2.1:80"} {
				other := key
				other.Site, other.Server = site, server
				if got := slices.Contains(others, other); got != (other != key) {
					t.Errorf("%+v is among the other keys of %+v: %t", other, key, got)
				}
			}
		}
		if len(others) != 5 {
			t.Errorf("%+v has %d other keys, want 5: %+v", key, len(others), others)
		}
	}

	const source = "https://robots.test/a.example.com"
	for _, site := range []string{"a.example.com", "*.example.com", ""} {
		s := NewSite(policy.Key{Site: site, Server: "192.0.2.1:80", Host: "a.example.com"}).WithSource(source)
		others := s.formerKeys(nil)
		for _, other := range []policy.Key{
			{Source: source},
			{Source: source, ForwardedHost: "a.example.com", Site: "*.example.com"},
			{Source: source, ForwardedHost: "a.example.com"},
		} {
			if got := slices.Contains(others, other); got != (other != s.Key) {
				t.Errorf("%+v is among the other keys of %+v: %t", other, s.Key, got)
			}
		}
		if len(others) != 2 {
			t.Errorf("%+v has %d other keys, want 2: %+v", s.Key, len(others), others)
		}
	}

	exact, wild, open := serve("192.0.2.1:80", "a.example.com"), serve("192.0.2.2:80", "*.example.com"), serve("192.0.2.3:443")
	sites := &Sites{
		Servers: func() []*caddyhttp.Server { return []*caddyhttp.Server{exact, wild} },
		IsGuard: func(caddyhttp.MiddlewareHandler) bool { return true },
	}
	for _, tc := range []struct {
		server *caddyhttp.Server
		site   string
		want   bool
	}{
		{exact, "*.example.com", true},
		{exact, "a.example.com", false},
		{exact, "", false},
		{wild, "a.example.com", true},
		{open, "a.example.com", true},
	} {
		if got := sites.belongsToOtherServer(tc.server, policy.Key{Site: tc.site, Host: "a.example.com"}); got != tc.want {
			t.Errorf("%q is of another server than %v: %t, want %t", tc.site, tc.server.Listen, got, tc.want)
		}
	}
}
