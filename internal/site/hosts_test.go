package site

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unsafe"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// testHosts are those of a server with exact hosts, wildcards and a catch-all.
func testHosts() *Hosts {
	inner := caddyhttp.Route{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"inner.example.com"}}}}
	h := NewHosts(&caddyhttp.Server{
		Routes: caddyhttp.RouteList{
			{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"example.com", "Bücher.example", "*.example.net", "a.*.example.org", "dotted.example.", "::1", "{env.HOST}"}}}},
			{Handlers: []caddyhttp.MiddlewareHandler{&caddyhttp.Subroute{Routes: caddyhttp.RouteList{inner}}}},
		},
	})
	h.ServerName = ":9501"
	return h
}

func TestHosts(t *testing.T) {
	h := testHosts()
	for _, tc := range []struct {
		host, label string
		named       bool
	}{
		{"example.com", "example.com", true},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", true},
		{"inner.example.com", "inner.example.com", true},
		{"::1", "::1", true},
		{"shop.example.net", "*.example.net", false},
		{".example.net", "*.example.net", false},
		{"a.b.example.org", "a.*.example.org", false},
		{"b.b.example.org", judge.OtherName, false},
		{"a.shop.example.net", judge.OtherName, false},
		{"example.net", judge.OtherName, false},
		{"example.com.", judge.OtherName, false},
		{"shop.example.net.", judge.OtherName, false},
		{"{env.HOST}", judge.OtherName, false},
		{"", judge.OtherName, false},
	} {
		if label, named := h.Label(tc.host); label != tc.label || named != tc.named {
			t.Errorf("label(%q) = %q, %t; want %q, %t", tc.host, label, named, tc.label, tc.named)
		}
	}
}

// TestKey gives every spelling of a host that Caddy routes to a configured site
// the key of that site, and no other.
func TestKey(t *testing.T) {
	const (
		long = "sha256-9835fa6bf4e20a9b9ea812506302e98982721a6cf8d2cae67af57129bf21ae90" // of 300 times a
		at   = ":9501"
	)
	proxy := func(host string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("X-Forwarded-Proto", "HTTPS")
			r.Header.Set("X-Forwarded-Host", host)
		}
	}
	lines := func(proto, host []string) func(*http.Request) {
		return func(r *http.Request) { r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-Host"] = proto, host }
	}
	secure := func(r *http.Request) { r.TLS = new(tls.ConnectionState) }
	hosts := testHosts() // which keep sites from one case to the next
	for _, tc := range []struct {
		name, host string
		change     func(*http.Request)
		trusted    bool
		want       policy.Key
	}{
		{"with the port of the listener", "example.com:9501", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com:9501"}},
		{"in brackets", "[example.com]", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"in brackets with the port of the listener", "[Example.com]:9501", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com:9501"}},
		{"in brackets with another port", "[example.com]:80", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"behind a bracket", "[example.com", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"before a bracket", "example.com]", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"behind a bracket with a port, which Caddy takes for another host", "[example.com:9501", nil, false, policy.Key{Server: at, Host: "[example.com:9501"}},
		{"in two pairs of brackets, which are another host", "[[example.com]]", nil, false, policy.Key{Server: at, Host: "[[example.com]]"}},
		{"nothing in brackets", "[]", nil, false, policy.Key{Server: at, Host: "[]"}},
		{"without a port", "example.com", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"another port", "example.com:9502", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"the default port", "example.com:80", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"the port with zeros", "example.com:09501", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"no number for a port", "example.com:x", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"a colon and no port", "example.com:", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"case", "EXAMPLE.com:9501", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com:9501"}},
		{"case without a port", "Example.Com", nil, false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"IPv6", "[::1]:9501", nil, false, policy.Key{Server: at, Site: "::1", Host: "[::1]:9501"}},
		{"IPv6 without brackets", "::1", nil, false, policy.Key{Server: at, Site: "::1", Host: "[::1]"}},
		{"IPv6 behind a bracket", "[::1", nil, false, policy.Key{Server: at, Site: "::1", Host: "[::1]"}},
		{"IPv6 before a bracket", "::1]", nil, false, policy.Key{Server: at, Site: "::1", Host: "[::1]"}},
		{"colons that make no address, which are a host to Caddy", "example.com:1:9501", nil, false, policy.Key{Server: at, Host: "example.com:1:9501"}},
		{"https", "example.com", secure, false, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com"}},
		{"IDN as it is configured", "xn--bcher-kva.example", nil, false, policy.Key{Server: at, Site: "xn--bcher-kva.example", Host: "xn--bcher-kva.example"}},
		{"IDN that Caddy does not take for it", "bücher.example", nil, false, policy.Key{Server: at, Host: "bücher.example"}},
		{"a trailing dot, which Caddy routes to the catch-all", "example.com.", nil, false, policy.Key{Server: at, Host: "example.com."}},
		{"and with a port", "Example.com.:9501", nil, false, policy.Key{Server: at, Host: "example.com.:9501"}},
		{"a wildcard's host", "Shop.example.net", nil, false, policy.Key{Server: at, Site: "*.example.net", Host: "shop.example.net"}},
		{"a host that nobody names", "other.example", nil, false, policy.Key{Server: at, Host: "other.example"}},
		{"with a trailing dot", "other.example.", nil, false, policy.Key{Server: at, Host: "other.example"}},
		{"none at all", "", nil, false, policy.Key{Server: at}},
		{"no host has such a name", strings.Repeat("a", 300), nil, false, policy.Key{Server: at, Host: long}},
		{"a client says it is a proxy", "example.com", proxy("shop.example.com"), false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"a trusted proxy says so", "example.com", proxy("Shop.example.com"), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com", ForwardedHost: "shop.example.com"}},
		{"a trusted proxy of the same host", "example.com", proxy("Example.com:443"), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com"}},
		{"a trusted proxy of just the same host", "example.com", proxy("example.com"), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com"}},
		{"a trusted proxy of just the same host with its dot", "dotted.example.", proxy("dotted.example."), true, policy.Key{Server: at, Site: "dotted.example.", IsHTTPS: true, Host: "dotted.example."}},
		{"a trusted proxy that names no host", "example.com", proxy(""), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com"}},
		{"a trusted proxy that says nothing", "example.com", nil, true, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"a client that says it is a proxy of just the same host", "example.com", proxy("example.com"), false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"a trusted proxy maps the port", "example.com:8443", proxy("example.com"), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com"}},
		{"the last line of a trusted proxy", "example.com", lines([]string{"http", "https"}, []string{"forged.test", "shop.example.com"}), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com", ForwardedHost: "shop.example.com"}},
		{"the last line, which is the host itself", "example.com", lines([]string{"https", "http"}, []string{"forged.test", "example.com"}), true, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"a list, whose elements origins choose differently", "example.com", lines([]string{"https, http"}, []string{"Shop.example.com,lb.test"}), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com", ForwardedHost: "shop.example.com,lb.test"}},
		{"a list in the last line", "example.com", lines([]string{"https", "http, https"}, []string{"forged.test", "other.test, example.com"}), true, policy.Key{Server: at, Site: "example.com", Host: "example.com", ForwardedHost: "other.test, example.com"}},
		{"a list of the host itself", "example.com", lines([]string{"https"}, []string{"example.com, example.com:443"}), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com"}},
		{"an empty last line, as if there were none", "example.com", lines([]string{"https", ""}, []string{"forged.test", ""}), true, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"several lines of a client", "example.com", lines([]string{"http", "https"}, []string{"forged.test", "shop.example.com"}), false, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"a proxy's host with no such name", "example.com", proxy(strings.Repeat("a", 300)), true, policy.Key{Server: at, Site: "example.com", IsHTTPS: true, Host: "example.com", ForwardedHost: long}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := arriving(tc.host, &net.TCPAddr{Port: 9501}, tc.trusted)
			if tc.change != nil {
				tc.change(r)
			}
			named := hosts.exactHosts[tc.host] != nil && tc.host != "::1" && (!tc.trusted || LastForwardedLine(r.Header, ForwardedHost) == "" || LastForwardedLine(r.Header, ForwardedHost) == tc.host)
			if got := hosts.CachedSite(r); (got != nil) != named || named && (*got != NewSite(tc.want) || hosts.CachedSite(r) != got) {
				t.Errorf("site = %+v, want that of the key once if it is named so", got)
			}
			if got := hosts.KeyForRequest(r); got != tc.want {
				t.Errorf("key = %+v\nwant  %+v", got, tc.want)
			}
		})
	}
}

// arriving returns a request as it arrives at an address of the server.
func arriving(host string, at net.Addr, trusted bool) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = host
	ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, at)
	return r.WithContext(context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: trusted}))
}

// TestSiteOfIPv6 has an address without its brackets, the end of which is taken for a port:
// the site is that of the listener, and not kept for another.
func TestSiteOfIPv6(t *testing.T) {
	hosts := testHosts()
	for _, port := range []int{1, 9501} {
		if got := hosts.CachedSite(arriving("::1", &net.TCPAddr{Port: port}, false)); got != nil {
			t.Errorf("at port %d: %+v", port, got)
		}
	}
}

// TestKeyByListener takes the port of the listener for the site's where it is
// none of the default ones.
func TestKeyByListener(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   net.Addr
		tls  bool
		host string
		want string
	}{
		{"the default port", &net.TCPAddr{Port: 80}, false, "example.com:80", "example.com"},
		{"a port that is mapped to it", &net.TCPAddr{Port: 80}, false, "example.com:8080", "example.com"},
		{"the default port of https", &net.TCPAddr{Port: 443}, true, "example.com:8443", "example.com"},
		{"https at the default port of http", &net.TCPAddr{Port: 80}, true, "example.com:80", "example.com:80"},
		{"HTTP/3", &net.UDPAddr{Port: 8443}, true, "example.com:8443", "example.com:8443"},
		{"a socket without a port", &net.UnixAddr{Name: "/run/caddy.sock"}, false, "example.com:8443", "example.com"},
	} {
		r := arriving(tc.host, tc.at, false)
		if tc.tls {
			r.TLS = new(tls.ConnectionState)
		}
		if got := testHosts().KeyForRequest(r).Host; got != tc.want {
			t.Errorf("%s: %s is %q, want %q", tc.name, tc.host, got, tc.want)
		}
	}
}

// TestKeyOfALongPort checks that a key does not keep a long Host field in memory.
func TestKeyOfALongPort(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "a1.test:" + strings.Repeat("0", 1000)
	if key := testHosts().KeyForRequest(r); key.Host != "a1.test" || unsafe.StringData(key.Host) == unsafe.StringData(r.Host) {
		t.Errorf("the host %q of the key is a part of the Host field", key.Host)
	}
}

func TestKeyDoesNotAllocateForUsualHosts(t *testing.T) {
	h := testHosts()
	for _, host := range []string{"example.com", "example.com:9501", "shop.example.net"} {
		r := arriving(host, &net.TCPAddr{Port: 9501}, false)
		if n := testing.AllocsPerRun(100, func() { h.KeyForRequest(r) }); n != 0 {
			t.Errorf("the key of %s takes %v allocations", host, n)
		}
	}
}

func TestSites(t *testing.T) {
	for _, tc := range []struct {
		name    string
		key     policy.Key
		segment policy.Segment
		label   string
	}{
		{"the configuration names it", policy.Key{Site: "example.com", Host: "example.com:9501"}, policy.ConfiguredHosts, "example.com"},
		{"a proxy was asked for something else", policy.Key{Site: "example.com", Host: "example.com", ForwardedHost: "evil.example"}, policy.UnknownHosts, "example.com"},
		{"a wildcard names it", policy.Key{Site: "*.example.net", Host: "a.example.net"}, policy.UnknownHosts, "*.example.net"},
		{"nobody names it", policy.Key{Host: "evil.example"}, policy.UnknownHosts, judge.OtherName},
		{"a file", policy.Key{Source: "/srv/robots.txt"}, policy.ConfiguredHosts, judge.OtherName},
	} {
		if got := NewSite(tc.key); got.CacheSegment != tc.segment || got.Label != tc.label || got.NamedInConfig != (tc.segment == policy.ConfiguredHosts) {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
}
