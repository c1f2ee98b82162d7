package caddymodule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStoreSiblings reads what others have written: the newest version, but no
// file of theirs.
func TestStoreSiblings(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	for i, id := range []string{"third", "first", "second"} {
		sibling := newInstance(m, id, noon.Add(time.Duration(i)*time.Minute))
		sibling.learn(siteA, policy.Named, "# "+id+"\n")
		sibling.learn(siteF, policy.Named, "# "+id+"\n")
		sibling.write(ctx, rewriteInterval)
	}
	if len(m.values) != 6 {
		t.Fatalf("stored are %v", m.keys())
	}
	cold := newInstance(m, "first", noon.Add(3*time.Minute))
	cold.read(ctx)
	if got := cold.text(siteA); got != "# second\n" {
		t.Errorf("got %q, want the newest", got)
	}
	if got := cold.text(siteF); got != "# first\n" {
		t.Errorf("got the file %q of another instance", got)
	}
	if cold.state.cache.Get(siteA).Due(cold.time) {
		t.Error("a fresh copy of a sibling is due")
	}
	writes := m.writes
	cold.write(ctx, rewriteInterval)
	if m.writes != writes {
		t.Error("what a sibling has stored was stored again")
	}

	warm := newInstance(m, "fourth", noon.Add(30*time.Second))
	warm.learn(siteA, policy.Named, "# own\n")
	warm.time = noon.Add(3 * time.Minute)
	warm.read(ctx)
	if got := warm.text(siteA); got != "# own\n" {
		t.Errorf("got %q instead of a fresh copy", got)
	}
	for _, key := range m.keys() {
		k, ok := parseStorageKey(key)
		if !ok || k.String() != key {
			t.Errorf("the key %q is odd", key)
		}
	}
}

// TestStoreSetsAside gets over values of all kinds, with one line about them.
func TestStoreSetsAside(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	first := newInstance(m, "first", noon)
	first.learn(siteA, policy.Named, "# one\n")
	first.learn(siteURL, policy.Named, "# url\n")
	first.write(ctx, rewriteInterval)
	keyA := storageKeyOf("first", siteA).String()
	future := []byte(strings.Replace(string(m.values[keyA]), `"format":2`, `"format":9`, 1))
	m.values["robots_guard/v1/second/policies/cut.json"] = m.values[keyA][:100]
	m.values["robots_guard/v1/second/policies/large.json"] = make([]byte, policy.MaxSnapshot+1)
	m.values["robots_guard/v1/second/policies/empty.json"] = nil
	m.values["robots_guard/v1/second/policies/renamed.json"] = m.values[keyA]
	m.values[keyA] = future
	m.values["robots_guard/v1/note.txt"] = []byte("not ours")
	m.values["robots_guard/v1/a/b/c/d.json"] = []byte("not ours")
	for key := range m.values {
		m.times[key] = noon
	}

	again := newInstance(m, "first", noon)
	again.read(ctx)
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
	if string(m.values[aside]) != string(future) || m.values[keyA] != nil {
		t.Errorf("the future was not kept: %v", m.keys())
	}
	if m.values["robots_guard/v1/second/policies/cut.json"] == nil {
		t.Error("a value of another instance was moved")
	}

	// Nobody refreshes them, so they go.
	later := newInstance(m, "third", noon.Add(31*24*time.Hour))
	later.read(ctx)
	if got := m.keys(); len(got) != 2 || !slices.Contains(got, "robots_guard/v1/note.txt") {
		t.Errorf("left are %v", got)
	}
}

// TestStoreOutdated leaves what an instance has stored that runs an earlier
// version still: that one takes it for stored.
func TestStoreOutdated(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	value := []byte(`{"format":1}`)
	own, sibling := storageKeyOf("first", siteA).String(), storageKeyOf("second", siteA).String()
	for _, key := range []string{own, sibling} {
		m.values[key], m.times[key] = value, noon
	}
	first := newInstance(m, "first", noon)
	first.read(ctx)
	if m.values[own] != nil || m.values[sibling] == nil {
		t.Errorf("left are %v, want that of the other instance", m.keys())
	}
	if n := first.logs.FilterLevelExact(zap.WarnLevel).Len(); n != 0 {
		t.Errorf("%d warnings: %v", n, first.logs.All())
	}
	newInstance(m, "first", noon.Add(maxUnrefreshed)).read(ctx)
	if len(m.values) != 0 {
		t.Errorf("left are %v of an instance that is gone", m.keys())
	}
}

// TestStoreBound reads no more keys than it should.
func TestStoreBound(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	for _, id := range []string{"a", "b"} {
		i := newInstance(m, id, noon)
		for n := range 20 {
			i.learn(namedKey(fmt.Sprint(id, n, ".test")), policy.Named, "# x\n")
		}
		i.write(ctx, rewriteInterval)
	}
	cold := newInstance(m, "b", noon)
	cold.maxKeys = 25
	cold.read(ctx)
	own := 0
	for _, e := range cold.state.cache.Entries() {
		if strings.HasPrefix(e.Key().Host, "b") {
			own++
		}
	}
	if n := len(cold.state.cache.Entries()); n != 25 || own != 20 {
		t.Errorf("%d were read, %d of the instance itself", n, own)
	}
	cold.logged(t, "more is stored than is read; give robots_guard a higher number of policies")
}

// TestStoreMany restores as many policies as are kept by default.
func TestStoreMany(t *testing.T) {
	m := newMemory()
	m.now = noon
	first := newInstance(m, "first", noon)
	for n := range namedBounds.Entries {
		first.learn(namedKey(fmt.Sprint(n, ".test")), policy.Named, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", n%100))
	}
	first.write(t.Context(), rewriteInterval)
	cold := newInstance(m, "second", noon)
	cold.maxKeys = maxKeysFor(namedBounds.Entries)
	start := time.Now()
	cold.read(t.Context())
	if n := cold.state.cache.Stats(policy.Named).Entries; n != namedBounds.Entries {
		t.Errorf("%d are restored", n)
	}
	t.Logf("%d policies restored in %v", namedBounds.Entries, time.Since(start))
}
