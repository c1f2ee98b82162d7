package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// tenant is a host that a wildcard site takes.
func tenant(n int) policy.Key {
	return policy.Key{Site: "*.tenants.test", Host: fmt.Sprintf("t%03d.tenants.test", n)}
}

// use makes requests for a site, one a second.
func (i *instance) use(key policy.Key, times int) {
	e := i.cache.Get(key)
	for range times {
		i.time = i.time.Add(time.Second)
		e.Use(i.time)
	}
}

// TestStoreKeepsHostsInUse stores what is known of the hosts of a wildcard site
// that are used most, a bounded number of them, and takes them in at a restart.
func TestStoreKeepsHostsInUse(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	use := func(n, times int) { i.use(tenant(n), times) }
	const inUse = maxStoredUnnamed + 44
	for n := range inUse + 100 {
		i.learn(tenant(n), policy.Invented, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", n))
	}
	for n := range inUse {
		use(n, minStoredUses+n) // the later ones more
	}
	i.Write(ctx)
	if n := len(m.Keys()); n != maxStoredUnnamed {
		t.Errorf("%d policies are stored, want %d", n, maxStoredUnnamed)
	}

	again := newInstance(m, "first", i.time.Add(time.Minute))
	again.Read(ctx)
	for n, want := range map[int]bool{0: false, 43: false, 44: true, inUse - 1: true, inUse: false} {
		if got := again.text(tenant(n)) != "(nothing)"; got != want {
			t.Errorf("after a restart host %d is known: %t, want %t", n, got, want)
		}
	}

	// Another becomes the most used one: it takes the place of the least.
	i.time = i.time.Add(unnamedInterval)
	use(0, 2*inUse)
	i.Write(ctx)
	if n := len(m.Keys()); n != maxStoredUnnamed {
		t.Errorf("then %d policies are stored, want %d", n, maxStoredUnnamed)
	}
	later := newInstance(m, "first", i.time)
	later.Read(ctx)
	for n, want := range map[int]bool{0: true, 44: false, 45: true} {
		if got := later.text(tenant(n)) != "(nothing)"; got != want {
			t.Errorf("then host %d is known: %t, want %t", n, got, want)
		}
	}
}

// TestStoreWithoutDeleting stores no more hosts where nothing can be deleted.
func TestStoreWithoutDeleting(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now, m.Keep = noon, errors.New("append only")
	i := newInstance(m, "first", noon)
	next := 0
	more := func(hosts, uses int) {
		for range hosts {
			i.learn(tenant(next), policy.Invented, "# x\n")
			i.use(tenant(next), uses)
			next++
		}
		i.time = i.time.Add(unnamedInterval)
		i.Write(ctx)
	}
	more(maxStoredUnnamed-10, minStoredUses)
	for round := range 3 {
		more(100, minStoredUses+1+round)
		if n := len(m.Keys()); n != maxStoredUnnamed {
			t.Fatalf("round %d: %d policies are stored, want %d", round, n, maxStoredUnnamed)
		}
	}
	m.Keep = nil
	more(0, 0)
	again := newInstance(m, "first", i.time)
	again.Read(ctx)
	if n := len(m.Keys()); n != maxStoredUnnamed || again.text(tenant(next-1)) == "(nothing)" || again.text(tenant(0)) != "(nothing)" {
		t.Errorf("%d policies are stored in the end, or not those used most", n)
	}
}

// TestStoreReadsNamedBesideOthers restores the sites of a small configuration,
// however many other hosts are stored beside them.
func TestStoreReadsNamedBesideOthers(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	const sites = 10
	for n := range sites {
		i.learn(namedKey(fmt.Sprint(n, ".test")), policy.Named, "# x\n")
	}
	for n := range maxStoredUnnamed {
		i.learn(tenant(n), policy.Invented, "# x\n")
		i.use(tenant(n), minStoredUses)
	}
	i.Write(ctx)
	cold := newInstance(m, "first", i.time)
	cold.maxPolicies = maxPoliciesFor(sites)
	cold.Read(ctx)
	for n := range sites {
		if cold.text(namedKey(fmt.Sprint(n, ".test"))) == "(nothing)" {
			t.Errorf("site %d is not restored", n)
		}
	}
	if cold.logs.FilterMessageSnippet("more is stored than is read").Len() != 0 {
		t.Error("not everything is read")
	}
}

// TestStoreKeepsHostsOverAFlood stores the hosts that were in use before a
// restart, also where clients invent others right after it, some of them used as much.
func TestStoreKeepsHostsOverAFlood(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	for n := range maxStoredUnnamed {
		first.learn(tenant(n), policy.Invented, "# x\n")
		first.use(tenant(n), minStoredUses)
	}
	first.Write(ctx)

	again := newInstance(m, "first", first.time.Add(time.Minute))
	again.Read(ctx)
	for n := range 2 * inventedBounds.Entries {
		invented := policy.Key{Site: "*.tenants.test", Host: fmt.Sprintf("x%d.tenants.test", n)}
		again.learn(invented, policy.Invented, "# y\n")
		if again.use(invented, 1); n%50 == 0 {
			again.use(invented, minStoredUses-1)
		}
	}
	again.Write(ctx)
	later := newInstance(m, "first", again.time)
	later.Read(ctx)
	for n := range maxStoredUnnamed {
		if later.text(tenant(n)) == "(nothing)" {
			t.Fatalf("host %d is not stored any more", n)
		}
	}
}
