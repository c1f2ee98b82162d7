package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestDueAfterAnotherInstance writes a policy again of which nothing was due, once it is
// known that another instance has stored another text since.
func TestDueAfterAnotherInstance(t *testing.T) {
	m := storetest.New()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	site := namedKey("a.example")
	a, b := newInstance(m, "a", now), newInstance(m, "b", now)
	a.Read(t.Context())
	a.learn(site, policy.Named, "User-agent: *\nDisallow: /a/\n")
	a.later(t, time.Minute)
	a.later(t, time.Minute) // nothing is due
	written := a.observed.writes(kindPolicies, "success")

	b.time = b.time.Add(10 * time.Minute)
	b.Read(t.Context())
	b.learn(site, policy.Named, "User-agent: *\nDisallow: /b/\n")
	b.later(t, time.Second)

	a.time = a.time.Add(20 * time.Minute)
	a.learn(site, policy.Named, "User-agent: *\nDisallow: /a/\n") // as before, so that it is not due yet
	a.later(t, time.Second)
	if got := a.observed.writes(kindPolicies, "success"); got != written {
		t.Fatalf("written %d times, want %d: the same text was read again, and that is stored once an hour", got, written)
	}
	a.Read(t.Context()) // what b has stored
	a.later(t, time.Second)
	if got := a.observed.writes(kindPolicies, "success"); got != written+1 {
		t.Errorf("written %d times, want %d: b has stored another text", got, written+1)
	}
}

// TestSettledIsBounded remembers of no site that has left the cache that nothing was due.
func TestSettledIsBounded(t *testing.T) {
	i := newInstance(storetest.New(), "a", time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	i.Read(t.Context())
	i.cache.Resize(policy.Named, policy.Bounds{Entries: 10, Bytes: 1 << 20, Reads: 1})
	for n := range 500 {
		i.learn(namedKey(fmt.Sprintf("s%d.example", n)), policy.Named, "User-agent: *\nDisallow: /a/\n")
		i.later(t, time.Second)
	}
	if got := len(i.policies.settled); got > 150 {
		t.Errorf("%d sites are remembered of 10", got)
	}
}

// BenchmarkDue looks what is to be stored of very many sites of which nothing is.
func BenchmarkDue(b *testing.B) {
	i := newInstance(storetest.New(), "a", time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	i.Read(b.Context())
	for n := range 10_000 {
		i.learn(namedKey(fmt.Sprintf("s%d.example", n)), policy.Named, "User-agent: *\nDisallow: /a/\n")
	}
	i.Write(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		for range i.policies.due(b.Context(), false) {
			b.Fatal("something is due")
		}
	}
}
