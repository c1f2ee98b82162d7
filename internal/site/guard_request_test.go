package site

import (
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestRequestsForSites are taken for the site that they are made for.
func TestRequestsForSites(t *testing.T) {
	for name, tc := range map[string]struct {
		key       policy.Key
		encrypted bool
		proxy     *TrustedProxy
		forwarded string // X-Forwarded-Host
		none      bool
	}{
		"http":                       {key: policy.Key{Site: "a.test", Host: "a.test"}},
		"a port":                     {key: policy.Key{Site: "a.test", Host: "a.test:8080"}},
		"https":                      {key: policy.Key{Site: "a.test", Host: "a.test", IsHTTPS: true}, encrypted: true},
		"a wildcard":                 {key: policy.Key{Site: "*.test", Host: "b.test", IsHTTPS: true}, encrypted: true},
		"any host":                   {key: policy.Key{Host: "other.example"}},
		"an IPv6 address":            {key: policy.Key{Host: "[::1]:8080"}},
		"https behind a proxy":       {key: policy.Key{Site: "a.test", Host: "a.test", IsHTTPS: true}, proxy: &TrustedProxy{RemoteAddr: "10.0.0.1:9", SetsProto: true}},
		"a host behind a proxy":      {key: policy.Key{Site: "a.test", Host: "a.test", ForwardedHost: "b.test"}, proxy: &TrustedProxy{RemoteAddr: "10.0.0.1:9"}, forwarded: "b.test"},
		"both":                       {key: policy.Key{Site: "a.test", Host: "a.test", IsHTTPS: true, ForwardedHost: "b.test"}, proxy: &TrustedProxy{RemoteAddr: "10.0.0.1:9", SetsProto: true, SetsHost: true}, forwarded: "b.test"},
		"the same host by a proxy":   {key: policy.Key{Site: "a.test", Host: "a.test", IsHTTPS: true}, proxy: &TrustedProxy{RemoteAddr: "10.0.0.1:9", SetsProto: true, SetsHost: true}, forwarded: "a.test"},
		"behind a proxy not seen":    {key: policy.Key{Site: "a.test", Host: "a.test", IsHTTPS: true}, none: true},
		"forwarded, by none":         {key: policy.Key{Site: "a.test", Host: "a.test", ForwardedHost: "b.test"}, none: true},
		"a host that is too long":    {key: policy.Key{Host: Digested + "00"}, none: true},
		"http at an https listener":  {key: policy.Key{Site: "a.test", Host: "a.test"}, encrypted: true, none: true},
		"not by the proxy's, direct": {key: policy.Key{Site: "a.test", Host: "a.test", IsHTTPS: true}, encrypted: true, proxy: &TrustedProxy{RemoteAddr: "10.0.0.1:9", SetsProto: true}},
	} {
		t.Run(name, func(t *testing.T) {
			server := new(caddyhttp.Server)
			if tc.encrypted {
				server.TLSConnPolicies = caddytls.ConnectionPolicies{new(caddytls.ConnectionPolicy)}
			}
			r := NewGuardRequest(server, tc.key, tc.proxy)
			if (r == nil) != tc.none {
				t.Fatalf("a request: %t, want %t", r != nil, !tc.none)
			}
			if r == nil {
				return
			}
			hosts := NewHosts(nil)
			hosts.AddNames(caddyhttp.MatchHost{"a.test", "*.test"})
			if got := hosts.KeyForRequest(r); got != tc.key {
				t.Errorf("it is for %+v, want %+v", got, tc.key)
			}
			if got := r.Header.Get("X-Forwarded-Host"); got != tc.forwarded {
				t.Errorf("X-Forwarded-Host %q, want %q", got, tc.forwarded)
			}
		})
	}
}

// TestProxyOf sees only proxies that are trusted.
func TestProxyOf(t *testing.T) {
	key := policy.Key{Site: "a.test", Host: "a.test", IsHTTPS: true, ForwardedHost: "b.test"}
	want := TrustedProxy{RemoteAddr: "10.0.0.1:9", SetsProto: true, SetsHost: true}
	if got := TrustedProxyOf(NewGuardRequest(new(caddyhttp.Server), key, &want)); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := TrustedProxyOf(NewGuardRequest(new(caddyhttp.Server), policy.Key{Host: "a.test"}, &want)); got != nil {
		t.Errorf("a proxy for a direct request: %+v", got)
	}
}
