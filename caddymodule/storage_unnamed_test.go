package caddymodule

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStoreKeepsHostsInUse stores what is known of the hosts of a wildcard site
// that are used most, a bounded number of them, and takes them in at a restart.
func TestStoreKeepsHostsInUse(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	tenant := func(n int) policy.Key {
		return policy.Key{Site: "*.tenants.test", Host: fmt.Sprintf("t%03d.tenants.test", n)}
	}
	i := newInstance(m, "first", noon)
	use := func(n, times int) {
		e := i.state.cache.Get(tenant(n))
		for range times {
			i.time = i.time.Add(time.Second)
			e.Use(i.time)
		}
	}
	const inUse = maxStoredUnnamed + 44
	for n := range inUse + 100 {
		i.learn(tenant(n), policy.Invented, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", n))
	}
	for n := range inUse {
		use(n, minStoredUses+n) // the later ones more
	}
	i.write(ctx, rewriteInterval)
	if n := len(m.keys()); n != maxStoredUnnamed {
		t.Errorf("%d policies are stored, want %d", n, maxStoredUnnamed)
	}

	again := newInstance(m, "first", i.time.Add(time.Minute))
	again.read(ctx)
	for n, want := range map[int]bool{0: false, 43: false, 44: true, inUse - 1: true, inUse: false} {
		if got := again.text(tenant(n)) != "(nothing)"; got != want {
			t.Errorf("after a restart host %d is known: %t, want %t", n, got, want)
		}
	}

	// Another becomes the most used one: it takes the place of the least.
	i.time = i.time.Add(unnamedInterval)
	use(0, 2*inUse)
	i.write(ctx, rewriteInterval)
	if n := len(m.keys()); n != maxStoredUnnamed {
		t.Errorf("then %d policies are stored, want %d", n, maxStoredUnnamed)
	}
	later := newInstance(m, "first", i.time)
	later.read(ctx)
	for n, want := range map[int]bool{0: true, 44: false, 45: true} {
		if got := later.text(tenant(n)) != "(nothing)"; got != want {
			t.Errorf("then host %d is known: %t, want %t", n, got, want)
		}
	}
}
