package main

import (
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestTheGuardAllocatesNothingForABrowser(t *testing.T) {
	c, err := startChains()
	if err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	requests := chainRequests(agentsOf(100, 100, browserKinds...))
	w := newDiscarder()
	allocations := func(s *caddyhttp.Server) float64 {
		least := 1e9 // The minimum, because the garbage collector empties pools and other goroutines allocate.
		for range 100 {
			least = min(least, testing.AllocsPerRun(1, func() {
				for _, r := range requests {
					s.ServeHTTP(w, r)
				}
			}))
		}
		return least / float64(len(requests))
	}
	if empty, guarded := allocations(c.empty), allocations(c.guarded); guarded-empty >= 0.5 {
		t.Errorf("%v allocations per browser request with the guard, %v with an empty handler", guarded, empty)
	}
}

func TestEqualTextsShareMemory(t *testing.T) {
	const sites = 2000
	bytesOf := func(equal bool) int {
		stats := newStore(sites, equal).Stats(policy.ConfiguredHosts)
		if stats.Entries != sites {
			t.Errorf("the cache has %d sites", stats.Entries)
		}
		return stats.Bytes / sites
	}
	if equal, different := bytesOf(true), bytesOf(false); equal > different/2 {
		t.Errorf("%d bytes per site with equal files, %d with different files", equal, different)
	}
}
