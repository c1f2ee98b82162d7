package site

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestHostsAreCollectedOnce though many requests come at once after a load, and by none of
// them where the configuration was looked at before.
func TestHostsAreCollectedOnce(t *testing.T) {
	var looks atomic.Int64
	server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{
		MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"a.test"}}},
		Handlers:    []caddyhttp.MiddlewareHandler{caddyhttp.StaticResponse{}},
	}}}
	sites := &Sites{
		Servers: func() []*caddyhttp.Server { return []*caddyhttp.Server{server} },
		IsGuard: func(caddyhttp.MiddlewareHandler) bool {
			looks.Add(1)
			time.Sleep(10 * time.Millisecond) // as with very many routes
			return true
		},
	}
	got := make([]*Hosts, 16)
	ask := func() {
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() { got[i] = sites.HostsOfServer(server) })
		}
		all.Wait()
	}
	ask()
	if looks.Load() != 1 || len(slices.Compact(got)) != 1 || !got[0].MatchesHost("a.test") {
		t.Errorf("the routes were looked at %d times; a.test is named: %t", looks.Load(), got[0].MatchesHost("a.test"))
	}

	sites.byServer.Clear()
	if n := sites.NumGuardedHosts(); n != 1 {
		t.Errorf("%d guarded hosts", n)
	}
	looks.Store(0)
	if ask(); looks.Load() != 0 {
		t.Errorf("the routes were looked at %d times after the configuration was loaded", looks.Load())
	}
}

// TestLabels takes the names of host matchers as Caddy compares them.
func TestLabels(t *testing.T) {
	h := NewHosts(nil)
	h.AddNames(caddyhttp.MatchHost{"Example.com", "*.example.net", "b\u00fccher.example"})
	for _, tc := range []struct{ names, want []string }{
		{nil, []string{"_other"}},
		{[]string{"EXAMPLE.com", "*.Example.net"}, []string{"example.com", "*.example.net"}},
		{[]string{"a.example.net"}, []string{"*.example.net"}},
		{[]string{"b\u00fccher.example"}, []string{"xn--bcher-kva.example"}},
	} {
		if got := h.LabelsForRoute(tc.names); !slices.Equal(got, tc.want) {
			t.Errorf("%q: %q, want %q", tc.names, got, tc.want)
		}
	}
}
