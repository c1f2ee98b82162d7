package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStoreSiblings reads the newest versions of other instances, except those of files.
func TestStoreSiblings(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	for i, id := range []string{"third", "first", "second"} {
		peer := newInstance(m, id, noon.Add(time.Duration(i)*time.Minute))
		peer.learn(siteA, policy.ConfiguredHosts, "# "+id+"\n")
		peer.learn(siteF, policy.ConfiguredHosts, "# "+id+"\n")
		peer.Write(ctx)
	}
	if len(m.Values) != 6 {
		t.Fatalf("stored are %v", m.Keys())
	}
	cold := newInstance(m, "first", noon.Add(3*time.Minute))
	cold.Read(ctx)
	if got := cold.text(siteA); got != "# second\n" {
		t.Errorf("got %q, want the newest", got)
	}
	if got := cold.text(siteF); got != "# first\n" {
		t.Errorf("got the file %q of another instance", got)
	}
	if cold.cache.Get(siteA).IsDue(cold.time) {
		t.Error("a fresh copy of a peer is due")
	}
	writes := m.WriteAttempts
	cold.Write(ctx)
	if m.WriteAttempts != writes {
		t.Error("what a peer has stored was stored again")
	}

	warm := newInstance(m, "fourth", noon.Add(30*time.Second))
	warm.learn(siteA, policy.ConfiguredHosts, "# own\n")
	warm.time = noon.Add(3 * time.Minute)
	warm.Read(ctx)
	if got := warm.text(siteA); got != "# own\n" {
		t.Errorf("got %q instead of a fresh copy", got)
	}
	for _, key := range m.Keys() {
		k, ok := parseKey(key)
		if !ok || k.String() != key {
			t.Errorf("the key %q is odd", key)
		}
	}
}

// TestStoreSetsAside ignores invalid values of all kinds, and logs them once.
func TestStoreSetsAside(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	first.learn(siteA, policy.ConfiguredHosts, "# one\n")
	first.learn(siteURL, policy.ConfiguredHosts, "# url\n")
	first.Write(ctx)
	keyA := policyKey("first", siteA).String()
	future := []byte(strings.Replace(string(m.Values[keyA]), `"format":2`, `"format":9`, 1))
	m.Values["robots_guard/v1/second/policies/cut.json"] = m.Values[keyA][:100]
	m.Values["robots_guard/v1/second/policies/large.json"] = make([]byte, policy.MaxSnapshotSize+1)
	m.Values["robots_guard/v1/second/policies/empty.json"] = nil
	m.Values["robots_guard/v1/second/policies/renamed.json"] = m.Values[keyA]
	m.Values[keyA] = future
	m.Values["robots_guard/v1/note.txt"] = []byte("not ours")
	m.Values["robots_guard/v1/a/b/c/d.json"] = []byte("not ours")
	for key := range m.Values {
		m.ModTimes[key] = noon
	}

	again := newInstance(m, "first", noon)
	again.Read(ctx)
	if got := again.text(siteA); got != "(nothing)" {
		t.Errorf("got %q", got)
	}
	if got := again.text(siteURL); got != "# url\n" {
		t.Errorf("got %q", got)
	}
	again.logged(t, "stored values cannot be used and are set aside")
	if n := again.logs.FilterMessage("stored values cannot be used and are set aside").All()[0].ContextMap()["count"]; n != int64(5) {
		t.Errorf("%v values are set aside, want 5", n)
	}
	aside := strings.Replace(keyA, "policies/", "set_aside/policies-", 1)
	if string(m.Values[aside]) != string(future) || m.Values[keyA] != nil {
		t.Errorf("the future was not kept: %v", m.Keys())
	}
	if m.Values["robots_guard/v1/second/policies/cut.json"] == nil {
		t.Error("a value of another instance was moved")
	}

	// The values are not refreshed, so they expire.
	later := newInstance(m, "third", noon.Add(31*24*time.Hour))
	later.Read(ctx)
	if got := m.Keys(); len(got) != 2 || !slices.Contains(got, "robots_guard/v1/note.txt") {
		t.Errorf("left are %v", got)
	}
}

// TestStoreBound limits the number of read keys.
func TestStoreBound(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	for _, id := range []string{"a", "b"} {
		i := newInstance(m, id, noon)
		for n := range 20 {
			i.learn(namedKey(fmt.Sprint(id, n, ".test")), policy.ConfiguredHosts, "# x\n")
		}
		i.Write(ctx)
	}
	cold := newInstance(m, "b", noon)
	cold.maxPolicyValues = 25
	cold.Read(ctx)
	own := 0
	for _, e := range cold.cache.Entries() {
		if strings.HasPrefix(e.Key().Host, "b") {
			own++
		}
	}
	if n := len(cold.cache.Entries()); n != 25 || own != 20 {
		t.Errorf("%d were read, %d of the instance itself", n, own)
	}
	cold.logged(t, "not all stored policies were read; raise the option policies of robots_guard")
}

// TestStoreMany restores the default maximum of policies.
func TestStoreMany(t *testing.T) {
	m := storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	for n := range namedBounds.Entries {
		first.learn(namedKey(fmt.Sprint(n, ".test")), policy.ConfiguredHosts, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", n%100))
	}
	first.Write(t.Context())
	cold := newInstance(m, "second", noon)
	cold.maxPolicyValues = maxPolicyValues(namedBounds.Entries)
	start := time.Now()
	cold.Read(t.Context())
	if n := cold.cache.Stats(policy.ConfiguredHosts).Entries; n != namedBounds.Entries {
		t.Errorf("%d are restored", n)
	}
	t.Logf("%d policies restored in %v", namedBounds.Entries, time.Since(start))
}
