package caddymodule

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestNormalHost(t *testing.T) {
	for _, tc := range []struct {
		name, host string
		secure     bool
		want       string
	}{
		{"usual", "example.com", true, "example.com"},
		{"case", "EXAMPLE.com", true, "example.com"},
		{"default port of https", "example.com:443", true, "example.com"},
		{"default port of http", "example.com:80", false, "example.com"},
		{"the other scheme's default port", "example.com:80", true, "example.com:80"},
		{"port", "Example.com:8443", true, "example.com:8443"},
		{"trailing dot", "example.com.", true, "example.com"},
		{"trailing dot and port", "example.com.:8443", true, "example.com:8443"},
		{"trailing dot and default port", "example.com.:443", true, "example.com"},
		{"IDN", "Bücher.example", true, "xn--bcher-kva.example"},
		{"IDN with port", "bücher.example:81", false, "xn--bcher-kva.example:81"},
		{"IPv4", "192.0.2.1:80", false, "192.0.2.1"},
		{"IPv6", "[2001:DB8::1]", true, "[2001:db8::1]"},
		{"IPv6 with default port", "[2001:db8::1]:443", true, "[2001:db8::1]"},
		{"IPv6 with port", "[2001:db8::1]:8443", true, "[2001:db8::1]:8443"},
		{"underscore", "my_app.internal", true, "my_app.internal"},
		{"nonsense stays apart", "a b", true, "a b"},
		{"empty", "", true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := normalHost(tc.host, tc.secure)
			if got != tc.want {
				t.Errorf("normalHost(%q, %t) = %q, want %q", tc.host, tc.secure, got, tc.want)
			}
			if again := normalHost(got, tc.secure); again != got {
				t.Errorf("normalHost(%q) = %q, want the same", got, again)
			}
		})
	}
}

func TestNormalHostDoesNotAllocateForUsualHosts(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { normalHost("www.example.com:8443", true) }); n != 0 {
		t.Errorf("allocates %v times", n)
	}
}

func TestKeyOf(t *testing.T) {
	request := func(change func(*http.Request), trusted bool) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = "Example.com"
		r = r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: trusted}))
		if change != nil {
			change(r)
		}
		return r
	}
	forwarded := func(r *http.Request) {
		r.Header.Set("X-Forwarded-Proto", "HTTPS")
		r.Header.Set("X-Forwarded-Host", "Shop.example.com")
	}
	const long = "sha256-9835fa6bf4e20a9b9ea812506302e98982721a6cf8d2cae67af57129bf21ae90" // of 300 times a
	for _, tc := range []struct {
		name string
		r    *http.Request
		want policy.Key
	}{
		{"http", request(nil, false), policy.Key{Host: "example.com"}},
		{"https", request(func(r *http.Request) { r.TLS = new(tls.ConnectionState) }, false), policy.Key{Secure: true, Host: "example.com"}},
		{"a client says it is a proxy", request(forwarded, false), policy.Key{Host: "example.com"}},
		{"a trusted proxy says so", request(forwarded, true), policy.Key{Secure: true, Host: "example.com", Forwarded: "shop.example.com"}},
		{"no host has such a name", request(func(r *http.Request) { r.Host = strings.Repeat("a", 300) }, false), policy.Key{Host: long}},
		{"nor has the forwarded one", request(func(r *http.Request) { r.Header.Set("X-Forwarded-Host", strings.Repeat("a", 300)) }, true), policy.Key{Host: "example.com", Forwarded: long}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := keyOf(tc.r); got != tc.want {
				t.Errorf("keyOf = %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestHosts(t *testing.T) {
	inner := caddyhttp.Route{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"inner.example.com"}}}}
	h := hostsOf(&caddyhttp.Server{Routes: caddyhttp.RouteList{
		{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"example.com", "Bücher.example", "*.example.net", "{env.HOST}"}}}},
		{Handlers: []caddyhttp.MiddlewareHandler{&caddyhttp.Subroute{Routes: caddyhttp.RouteList{inner}}}},
	}})
	for _, tc := range []struct {
		host, label string
		named       bool
	}{
		{"example.com", "example.com", true},
		{"example.com:8080", "example.com", true},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", true},
		{"inner.example.com", "inner.example.com", true},
		{"shop.example.net", "*.example.net", false},
		{"a.shop.example.net", otherLabel, false},
		{"example.net", otherLabel, false},
		{"{env.HOST}", otherLabel, false},
		{"[::1]:80", otherLabel, false},
		{"", otherLabel, false},
	} {
		if label, named := h.label(tc.host); label != tc.label || named != tc.named {
			t.Errorf("label(%q) = %q, %t; want %q, %t", tc.host, label, named, tc.label, tc.named)
		}
	}
}

func TestSegmentOfSites(t *testing.T) {
	h := hostsOf(&caddyhttp.Server{Routes: caddyhttp.RouteList{
		{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"example.com", "*.example.net"}}}},
	}})
	for _, tc := range []struct {
		name string
		key  policy.Key
		want policy.Segment
	}{
		{"the configuration names it", policy.Key{Host: "example.com"}, policy.Named},
		{"the proxy was asked for the same", policy.Key{Host: "example.com", Forwarded: "example.com"}, policy.Named},
		{"the proxy was asked for something else", policy.Key{Host: "example.com", Forwarded: "evil.example"}, policy.Invented},
		{"a wildcard names it", policy.Key{Host: "a.example.net"}, policy.Invented},
		{"nobody names it", policy.Key{Host: "evil.example"}, policy.Invented},
		{"the port of the server", policy.Key{Host: "example.com:8443"}, policy.Named},
		{"a port that a proxy maps", policy.Key{Host: "example.com:8080"}, policy.Named},
		{"another one", policy.Key{Host: "example.com:8081"}, policy.Named},
		{"more ports than anybody maps", policy.Key{Host: "example.com:8082"}, policy.Invented},
		{"the first of them is remembered", policy.Key{Host: "example.com:8080"}, policy.Named},
		{"the port of the server still is its own", policy.Key{Host: "example.com:8443"}, policy.Named},
	} {
		if got := h.site(tc.key, "8443").segment; got != tc.want {
			t.Errorf("%s: segment %d, want %d", tc.name, got, tc.want)
		}
	}
}
