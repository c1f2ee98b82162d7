package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// again returns the store of the next configuration.
func (i *instance) again(storage Storage) *Store {
	s := New(Options{Storage: storage, Instance: i.instance, Observer: i.observed, Logger: i.logger, Now: i.now, Memory: i.memory})
	s.maxPolicyValues = i.maxPolicyValues
	return s
}

// TestReadWhatIsHeld checks that the next store reads no policy that is in memory. It writes policies
// that are not stored.
func TestReadWhatIsHeld(t *testing.T) {
	const before, after = "User-agent: *\nDisallow: /before/\n", "User-agent: *\nDisallow: /after/\n"
	site, other := namedKey("a.example"), namedKey("b.example")
	for name, tc := range map[string]struct {
		meanwhile     func(i *instance, m *storetest.Storage) *storetest.Storage // returns the storage to read next
		reads, writes int                                                        // number of policies for the next store
	}{
		"nothing": {func(_ *instance, m *storetest.Storage) *storetest.Storage { return m }, 0, 0},
		"a text that is not stored": {func(i *instance, m *storetest.Storage) *storetest.Storage {
			i.learn(site, policy.ConfiguredHosts, after)
			return m
		}, 1, 1},
		"the same text after hours": {func(i *instance, m *storetest.Storage) *storetest.Storage {
			i.time = i.time.Add(3 * time.Hour)
			i.learn(site, policy.ConfiguredHosts, before)
			return m
		}, 1, 1},
		"nobody has asked for a month": {func(i *instance, m *storetest.Storage) *storetest.Storage { // the values have expired
			i.time = i.time.Add(maxValueAge + time.Hour)
			return m
		}, 0, 2},
		"another storage": {func(*instance, *storetest.Storage) *storetest.Storage { return storetest.New() }, 0, 2},
		"a storage of before": {func(i *instance, m *storetest.Storage) *storetest.Storage {
			old := m.Clone()
			i.learn(site, policy.ConfiguredHosts, after)
			i.later(t, time.Minute) // written to the storage in use
			return old
		}, 1, 1},
		"a storage that tells no times": {func(_ *instance, m *storetest.Storage) *storetest.Storage {
			clear(m.ModTimes)
			return m
		}, 2, 0},
		"one is dropped from the cache": {func(i *instance, m *storetest.Storage) *storetest.Storage {
			i.cache.Resize(policy.ConfiguredHosts, policy.Bounds{Entries: 1, Bytes: 1 << 20, ConcurrentFetches: 1})
			return m
		}, 1, 0},
		"another instance has stored one": {func(i *instance, m *storetest.Storage) *storetest.Storage {
			b := newInstance(m, "b", i.time)
			b.learn(other, policy.ConfiguredHosts, after)
			b.later(t, time.Second)
			i.time = b.time
			return m
		}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := storetest.New()
			i := newInstance(m, "a", time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
			i.Read(t.Context())
			i.learn(site, policy.ConfiguredHosts, before)
			i.learn(other, policy.ConfiguredHosts, before)
			i.later(t, time.Minute)
			next := i.again(tc.meanwhile(i, m))
			read, written := i.observed.reads(kindPolicies, resultGood), i.observed.writes(kindPolicies, "success")
			next.Read(t.Context())
			next.Write(t.Context())
			read, written = i.observed.reads(kindPolicies, resultGood)-read, i.observed.writes(kindPolicies, "success")-written
			if read != tc.reads || written != tc.writes {
				t.Errorf("%d policies are read and %d written, want %d and %d", read, written, tc.reads, tc.writes)
			}
		})
	}
}

// BenchmarkReadHeld reads the stored policies of many cached sites, as after a reload.
func BenchmarkReadHeld(b *testing.B) {
	i := newInstance(storetest.New(), "a", time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	i.Read(b.Context())
	i.maxPolicyValues = 20_000
	for n := range 10_000 {
		i.learn(namedKey(fmt.Sprintf("s%d.example", n)), policy.ConfiguredHosts, "User-agent: *\nDisallow: /a/\n")
	}
	i.time = i.time.Add(time.Second)
	i.inMemory.SetNow(i.time)
	i.Write(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		i.again(i.inMemory).Read(b.Context())
	}
}

// TestDueAfterAnotherInstance writes an unchanged policy again after another instance has stored a
// different file.
func TestDueAfterAnotherInstance(t *testing.T) {
	m := storetest.New()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	site := namedKey("a.example")
	a, b := newInstance(m, "a", now), newInstance(m, "b", now)
	a.Read(t.Context())
	a.learn(site, policy.ConfiguredHosts, "User-agent: *\nDisallow: /a/\n")
	a.later(t, time.Minute)
	a.later(t, time.Minute) // no policy is due
	written := a.observed.writes(kindPolicies, "success")

	b.time = b.time.Add(10 * time.Minute)
	b.Read(t.Context())
	b.learn(site, policy.ConfiguredHosts, "User-agent: *\nDisallow: /b/\n")
	b.later(t, time.Second)

	a.time = a.time.Add(20 * time.Minute)
	a.learn(site, policy.ConfiguredHosts, "User-agent: *\nDisallow: /a/\n") // unchanged, so not due
	a.later(t, time.Second)
	if got := a.observed.writes(kindPolicies, "success"); got != written {
		t.Fatalf("written %d times, want %d: the same text was read again, and that is stored once an hour", got, written)
	}
	a.Read(t.Context()) // reads the value of b
	a.later(t, time.Second)
	if got := a.observed.writes(kindPolicies, "success"); got != written+1 {
		t.Errorf("written %d times, want %d: b has stored another text", got, written+1)
	}
}

// BenchmarkDue looks for due policies among many sites without unsaved changes.
func BenchmarkDue(b *testing.B) {
	i := newInstance(storetest.New(), "a", time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	i.Read(b.Context())
	for n := range 10_000 {
		i.learn(namedKey(fmt.Sprintf("s%d.example", n)), policy.ConfiguredHosts, "User-agent: *\nDisallow: /a/\n")
	}
	i.Write(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		for range i.policies.pendingWrites(false) {
			b.Fatal("something is due")
		}
	}
}
