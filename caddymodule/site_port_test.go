package caddymodule

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestInventedPorts keeps a client that asks a configured host for all ports
// from filling the part of the cache that is for configured hosts.
func TestInventedPorts(t *testing.T) {
	h := hostsOf(&caddyhttp.Server{Routes: caddyhttp.RouteList{
		{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"example.com"}}}},
	}})
	named := 0
	for port := range 1 << 16 {
		if h.site(policy.Key{Host: fmt.Sprintf("example.com:%d", port)}, "443").segment == policy.Named {
			named++
		}
	}
	if named != maxPorts+1 {
		t.Errorf("%d ports have a place of their own, want %d", named, maxPorts+1)
	}
	for _, host := range []string{"example.com", "example.com:443"} {
		if h.site(policy.Key{Host: host}, "443").segment != policy.Named {
			t.Errorf("%s has lost its place", host)
		}
	}
}

func TestLocalPort(t *testing.T) {
	for want, addr := range map[string]net.Addr{
		"8443": &net.TCPAddr{Port: 8443},
		"443":  &net.UDPAddr{Port: 443},
		"":     &net.UnixAddr{Name: "/run/caddy.sock"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
		if got := localPort(r); got != want {
			t.Errorf("%v: %q, want %q", addr, got, want)
		}
	}
	if got := localPort(httptest.NewRequest("GET", "/", nil)); got != "" {
		t.Errorf("%q without an address", got)
	}
}
