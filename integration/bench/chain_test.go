package main

import (
	"testing"
	"time"

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

func TestWaitsAreReadFromAProfile(t *testing.T) {
	const frames = `#	0x1	sync.(*Mutex).Lock+0x1	/go/mutex.go:1
#	0x2	github.com/robotsguard/caddy-robots-guard/internal/ledger.(*Ledger).Record+0x12	/x/ledger.go:1
#	0x3	github.com/robotsguard/caddy-robots-guard/caddymodule.(*Handler).ServeHTTP+0x12	/x/handler.go:1
#	0x4	github.com/caddyserver/caddy/v2/modules/caddyhttp.(*Server).ServeHTTP+0x1	/x/server.go:1
`
	got := waitsIn(`--- contention:
cycles/second=2000000000
4000000000 7 @ 0x1 0x2 0x3 0x4
` + frames + `
2000000000 1 @ 0x1 0x4
#	0x1	sync.(*Mutex).Lock+0x1	/go/mutex.go:1
#	0x4	github.com/caddyserver/caddy/v2/modules/caddyhttp.(*Server).ServeHTTP+0x1	/x/server.go:1

5000000000 1 @ 0x1 0x2 0x3 0x4
#	0x1	runtime.unlock+0x1	/go/lock.go:1
` + frames + `
3000000000 1 @ 0x1 0x2 0x3 0x4
#	0x1	sync.(*Mutex).Lock+0x1	/go/mutex.go:1
#	0x2	github.com/caddyserver/caddy/v2/modules/caddyhttp.HandlerFunc.ServeHTTP+0x1	/x/next.go:1
` + frames + `
9000000000 1 @ 0x1
#	0x1	github.com/robotsguard/caddy-robots-guard/policy.(*Cache).sweep+0x1	/go/mutex.go:1
`)
	want := map[string]time.Duration{product + "internal/ledger.(*Ledger).Record": 2 * time.Second, elsewhere: 2500 * time.Millisecond, inRuntime: 2500 * time.Millisecond}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for place, waited := range want {
		if got[place] != waited {
			t.Errorf("%s: %v, want %v", place, got[place], waited)
		}
	}
}
