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
	w := newNowhere()
	allocations := func(s *caddyhttp.Server) float64 {
		least := 1e9 // pools are emptied now and then, and others in the process allocate
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
		t.Errorf("%v allocations a browser's request with the guard, %v with an empty handler", guarded, empty)
	}
}

func TestEqualTextsShareMemory(t *testing.T) {
	const sites = 2000
	bytesOf := func(equal bool) int {
		stats := newStore(sites, equal).Stats(policy.Named)
		if stats.Entries != sites {
			t.Errorf("%d sites were kept", stats.Entries)
		}
		return stats.Bytes / sites
	}
	if equal, different := bytesOf(true), bytesOf(false); equal > different/2 {
		t.Errorf("%d bytes a site with equal texts, %d with different ones", equal, different)
	}
}
