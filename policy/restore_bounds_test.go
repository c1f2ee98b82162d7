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
	e := c.Add(Key{Host: "x.test"}, Named)
	<-e.Refresh(holding(time.Minute), answering(""), nil)
	clock.advance(2 * time.Minute)
	<-e.Refresh(holding(time.Minute), func() Answer { return Answer{Status: 503} }, nil)
	clock.advance(100 * time.Millisecond)
	if e.Due(clock.now()) || e.State().Failures != 1 {
		t.Fatalf("it waits after a failure: %+v", e.State())
	}
	stored := known(versionOf(200, smallFile, clock.now(), clock.now()))
	if !c.Restore(e.Key(), Named, stored, false) {
		t.Error("nothing was taken over")
	}
	good := e.State().Good
	if good.Robots.Text() != smallFile || good.Derived != good.Robots.RuleCount() {
		t.Errorf("the copy is %q, and %v is derived of it", good.Robots.Text(), good.Derived)
	}
}

// TestCacheBytes fills a segment exactly to its bound in bytes.
func TestCacheBytes(t *testing.T) {
	size := Parse([]byte(smallFile)).Size()
	c, clock := newTestCache(Bounds{Entries: 10, Bytes: size, Reads: 10})
	restored := func(host, text string) bool {
		return c.Restore(Key{Host: host}, Named, known(versionOf(200, text, clock.now(), clock.now())), false)
	}
	if !restored("x.test", smallFile) || restored("y.test", smallFile) {
		t.Error("it was full before the first or was not behind it")
	}
	if c.Resize(Named, Bounds{}); c.Stats(Named).Entries != 1 {
		t.Error("one that takes more than there is room for went, though it is alone")
	}
	c.Resize(Named, Bounds{Entries: 10, Bytes: size})
	c.Add(Key{Host: "y.test"}, Named)
	for _, tc := range []struct{ bytes, want int }{{size, 2}, {size - 1, 1}, {0, 1}} {
		c.Resize(Named, Bounds{Entries: 10, Bytes: tc.bytes, Reads: 10})
		if n := c.Stats(Named).Entries; n != tc.want {
			t.Errorf("with room for %d bytes of %d there are %d entries, want %d", tc.bytes, size, n, tc.want)
		}
	}
}

// TestCacheProve moves an entry to the proven queue once, and ignores an evicted entry.
func TestCacheProve(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 2, Bytes: 1 << 20, Reads: 10})
	a, b := c.Add(Key{Host: "a.test"}, Invented), c.Add(Key{Host: "b.test"}, Invented)
	for _, e := range []*Entry{a, b, a} {
		c.prove(e)
	}
	order := &c.kept[Invented].order
	var got []*Entry
	for e := order.proven.first; e != nil; e = e.behind {
		got = append(got, e)
	}
	if !slices.Equal(got, []*Entry{a, b}) || order.fresh.len > 0 {
		t.Errorf("%v are proven, and %d are not", got, order.fresh.len)
	}
	c.Add(Key{Host: "c.test"}, Invented) // evicts an entry
	gone := a
	if c.Get(a.key) == a {
		gone = b
	}
	gone.proven = false
	c.prove(gone)
	if n := c.Stats(Invented).Entries; n != 2 || c.Get(gone.key) != nil {
		t.Errorf("%d entries are kept, want 2", n)
	}
}
