package policy

import (
	"slices"
	"testing"
	"time"
)

// TestCacheRestoreOfAPeer replaces the copy of an unreachable site with the copy of a peer,
// although the entry is not due. Derived data are computed for the copy.
func TestCacheRestoreOfAPeer(t *testing.T) {
	clock := new(testClock)
	c := NewCache(roomy, roomy, clock.now, func(r *Robots) any { return r.RuleCount() })
	e := c.GetOrCreate(Key{Host: "x.test"}, ConfiguredHosts)
	<-e.Refresh(holding(time.Minute), answering(""), nil)
	clock.advance(2 * time.Minute)
	<-e.Refresh(holding(time.Minute), func() FetchResult { return FetchResult{Status: 503} }, nil)
	clock.advance(100 * time.Millisecond)
	if e.IsDue(clock.now()) || e.State().FailureCount != 1 {
		t.Fatalf("the entry must wait after a failure: %+v", e.State())
	}
	stored := stateOf(versionOf(200, smallFile, clock.now(), clock.now()))
	if !c.Restore(e.Key(), ConfiguredHosts, stored, false) {
		t.Error("the copy of the peer was not restored")
	}
	good := e.State().Current
	if good.Robots.Text() != smallFile || good.Derived != good.Robots.RuleCount() {
		t.Errorf("the copy is %q, and %v is derived of it", good.Robots.Text(), good.Derived)
	}
}

// TestCacheBytes fills a segment exactly to its bound in bytes.
func TestCacheBytes(t *testing.T) {
	size := Parse([]byte(smallFile)).Size()
	c, clock := newTestCache(Bounds{Entries: 10, Bytes: size, ConcurrentFetches: 10})
	restored := func(host, text string) bool {
		return c.Restore(Key{Host: host}, ConfiguredHosts, stateOf(versionOf(200, text, clock.now(), clock.now())), false)
	}
	if !restored("x.test", smallFile) || restored("y.test", smallFile) {
		t.Error("the segment was full before the first entry or not full after it")
	}
	if c.Resize(ConfiguredHosts, Bounds{}); c.Stats(ConfiguredHosts).Entries != 1 {
		t.Error("a single entry above the bound was evicted")
	}
	c.Resize(ConfiguredHosts, Bounds{Entries: 10, Bytes: size})
	c.GetOrCreate(Key{Host: "y.test"}, ConfiguredHosts)
	for _, tc := range []struct{ bytes, want int }{{size, 2}, {size - 1, 1}, {0, 1}} {
		c.Resize(ConfiguredHosts, Bounds{Entries: 10, Bytes: tc.bytes, ConcurrentFetches: 10})
		if n := c.Stats(ConfiguredHosts).Entries; n != tc.want {
			t.Errorf("with a bound of %d bytes for entries of %d bytes: %d entries, want %d", tc.bytes, size, n, tc.want)
		}
	}
}

// TestCacheProtect moves an entry to the protected queue once, and ignores an evicted entry.
func TestCacheProtect(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 2, Bytes: 1 << 20, ConcurrentFetches: 10})
	a, b := c.GetOrCreate(Key{Host: "a.test"}, UnknownHosts), c.GetOrCreate(Key{Host: "b.test"}, UnknownHosts)
	for _, e := range []*Entry{a, b, a} {
		c.promote(e)
	}
	order := &c.segments[UnknownHosts].queues
	var got []*Entry
	for e := order.protected.first; e != nil; e = e.nextInQueue {
		got = append(got, e)
	}
	if !slices.Equal(got, []*Entry{a, b}) || order.probation.len > 0 {
		t.Errorf("%v are protected, %d are in probation", got, order.probation.len)
	}
	c.GetOrCreate(Key{Host: "c.test"}, UnknownHosts) // evicts an entry
	gone := a
	if c.Get(a.key) == a {
		gone = b
	}
	gone.protected = false
	c.promote(gone)
	if n := c.Stats(UnknownHosts).Entries; n != 2 || c.Get(gone.key) != nil {
		t.Errorf("%d entries are cached, want 2", n)
	}
}
