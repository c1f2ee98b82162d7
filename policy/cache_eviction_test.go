package policy

import (
	"fmt"
	"testing"
	"time"
)

// TestCacheEvictsRestorableEntries skips entries that a fetch cannot restore, but not too many of
// them.
func TestCacheEvictsRestorableEntries(t *testing.T) {
	fail := func() FetchResult { return failing }
	text := func(n int) func() FetchResult { return func() FetchResult { return version(n) } }
	for _, tc := range []struct {
		name   string
		before []func() FetchResult // the responses for the oldest entry
		later  time.Duration        // time until an eviction
		cached bool
	}{
		{"one version", []func() FetchResult{text(1)}, time.Minute, false},
		{"never read", nil, time.Minute, false},
		{"never read with success", []func() FetchResult{fail}, time.Minute, false},
		{"changed lately", []func() FetchResult{text(1), text(2)}, time.Hour, false},
		{"changed a day ago", []func() FetchResult{text(1), text(2)}, MaxAge, false},
		{"cannot be read", []func() FetchResult{text(1), fail}, 48 * time.Hour, true},
		{"can be read again", []func() FetchResult{text(1), fail, text(1)}, time.Minute, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, clock := newTestCache(Bounds{Entries: 3, Bytes: 1 << 20, ConcurrentFetches: 1})
			old := c.GetOrCreate(Key{Host: "old"}, ConfiguredHosts)
			for _, read := range tc.before {
				old.MakeDue()
				<-old.Refresh(holding(time.Hour), read, nil)
			}
			clock.advance(tc.later)
			for i := range 2 {
				<-c.GetOrCreate(Key{Host: fmt.Sprint(i)}, ConfiguredHosts).Refresh(holding(time.Hour), text(i), nil)
			}
			c.GetOrCreate(Key{Host: "2"}, ConfiguredHosts)
			if got := c.Get(Key{Host: "old"}) != nil; got != tc.cached {
				t.Errorf("the entry is cached: %t, want %t", got, tc.cached)
			}
			if n := c.Stats(ConfiguredHosts).Entries; n != 3 {
				t.Errorf("%d entries, want 3", n)
			}
		})
	}
	t.Run("all of them", func(t *testing.T) {
		const most = 100
		c, clock := newTestCache(Bounds{Entries: most, Bytes: 1 << 20, ConcurrentFetches: 1})
		for i := range 3 * most {
			e := c.GetOrCreate(Key{Host: fmt.Sprint(i)}, ConfiguredHosts)
			<-e.Refresh(holding(time.Hour), text(1), nil)
			clock.advance(time.Hour)
			<-e.Refresh(holding(time.Hour), fail, nil)
		}
		if stats := c.Stats(ConfiguredHosts); stats.Entries != most || stats.Evicted != 2*most {
			t.Errorf("%+v", stats)
		}
	})
}

func TestCacheUnknownHostsDoNotEvictConfiguredHosts(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 10, Bytes: 1 << 16, ConcurrentFetches: 4})
	named := c.GetOrCreate(Key{Host: "example.com"}, ConfiguredHosts)
	<-named.Refresh(holding(time.Hour), func() FetchResult { return forbidding }, nil)
	for i := range 10_000 {
		e := c.GetOrCreate(Key{Host: fmt.Sprintf("%d.invented", i)}, UnknownHosts)
		if done := e.Refresh(holding(time.Hour), answering(fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i)), nil); done != nil && i%100 == 0 {
			<-done
		}
	}
	if c.Get(Key{Host: "example.com"}) != named || named.State().Current == nil {
		t.Error("the configured site was evicted")
	}
	if stats := c.Stats(UnknownHosts); stats.Entries > 10 {
		t.Errorf("%d unknown hosts are cached, want at most 10", stats.Entries)
	}
}

// TestCacheKeepsHostsInUse protects the tenants of a catch-all site from invented hosts.
func TestCacheKeepsHostsInUse(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 1000, Bytes: 32 << 20, ConcurrentFetches: 8})
	var tenants []*Entry
	for i := range 100 {
		tenants = append(tenants, c.GetOrCreate(Key{Host: fmt.Sprintf("tenant%d.test", i)}, UnknownHosts))
	}
	for range 3 {
		clock.advance(time.Minute)
		for _, e := range tenants {
			e.Touch(clock.now())
		}
	}
	for i := range 11_000 {
		c.GetOrCreate(Key{Host: fmt.Sprintf("%d.invented.test", i)}, UnknownHosts).Touch(clock.now())
	}
	for _, e := range tenants {
		if c.Get(e.Key()) != e {
			t.Fatalf("%s is gone", e.Key())
		}
	}
	if n := c.Stats(UnknownHosts).Entries; n != 1000 {
		t.Errorf("%d hosts are cached, want 1000", n)
	}
}

// TestCacheReservesATenthForNewEntries lets new entries evict each other if they fill their part of the
// segment. Otherwise they evict protected entries.
func TestCacheReservesATenthForNewEntries(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 20, Bytes: 1 << 20, ConcurrentFetches: 1})
	for i := range 20 {
		c.segments[ConfiguredHosts].queues.promote(c.GetOrCreate(Key{Host: fmt.Sprint("proven ", i)}, ConfiguredHosts))
	}
	for i := range 10 {
		c.GetOrCreate(Key{Host: fmt.Sprint("new ", i)}, ConfiguredHosts)
	}
	for i := range 10 {
		if got, want := c.Get(Key{Host: fmt.Sprint("new ", i)}) != nil, i >= 7; got != want {
			t.Errorf("new entry %d of 10 is cached: %t, want %t", i, got, want)
		}
	}
	for i := range 20 {
		if got, want := c.Get(Key{Host: fmt.Sprint("proven ", i)}) != nil, i >= 3; got != want {
			t.Errorf("protected entry %d of 20 is cached: %t, want %t", i, got, want)
		}
	}
}

// TestCacheEvictsOldestUsedEntry uses all protected entries. An eviction skips each of them once
// and then evicts the first.
func TestCacheEvictsOldestUsedEntry(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 3, Bytes: 1 << 20, ConcurrentFetches: 1})
	var entries []*Entry
	for i := range 3 {
		e := c.GetOrCreate(Key{Host: fmt.Sprint(i)}, ConfiguredHosts)
		c.segments[ConfiguredHosts].queues.promote(e)
		entries = append(entries, e)
	}
	clock.advance(time.Minute)
	for _, e := range entries {
		e.Touch(clock.now())
	}
	c.GetOrCreate(Key{Host: "new"}, ConfiguredHosts)
	for i, e := range entries {
		if got, want := c.Get(e.Key()) == e, i > 0; got != want {
			t.Errorf("entry %d is cached: %t, want %t", i, got, want)
		}
	}
}

// TestCacheEvictsUnusedProtectedEntry uses the first of two protected entries. The other is evicted.
func TestCacheEvictsUnusedProtectedEntry(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 2, Bytes: 1 << 20, ConcurrentFetches: 1})
	used, unused := c.GetOrCreate(Key{Host: "used"}, ConfiguredHosts), c.GetOrCreate(Key{Host: "unused"}, ConfiguredHosts)
	for _, e := range []*Entry{used, unused} {
		c.segments[ConfiguredHosts].queues.promote(e)
	}
	clock.advance(time.Minute)
	used.Touch(clock.now())
	c.GetOrCreate(Key{Host: "new"}, ConfiguredHosts)
	if c.Get(used.Key()) == nil || c.Get(unused.Key()) != nil {
		t.Errorf("the used entry is cached: %t, the other entry: %t", c.Get(used.Key()) != nil, c.Get(unused.Key()) != nil)
	}
}

// TestCacheProtectsReturningHosts keeps a host that only clients name after two uses. The
// first use created the entry and does not count.
func TestCacheProtectsReturningHosts(t *testing.T) {
	for uses, want := range []bool{false, false, true} {
		c, clock := newTestCache(Bounds{Entries: 2, Bytes: 1 << 20, ConcurrentFetches: 1})
		old := c.GetOrCreate(Key{Host: "old"}, UnknownHosts)
		for range uses {
			clock.advance(time.Minute)
			old.Touch(clock.now())
		}
		c.GetOrCreate(Key{Host: "next"}, UnknownHosts)
		c.GetOrCreate(Key{Host: "last"}, UnknownHosts)
		if got := c.Get(old.Key()) == old; got != want {
			t.Errorf("used %d times: the entry is cached: %t, want %t", uses, got, want)
		}
	}
}

// TestCacheKeepsSingleLargeEntry does not evict a single entry of any size.
func TestCacheKeepsSingleLargeEntry(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 10, Bytes: 1, ConcurrentFetches: 1})
	for i := range 2 {
		e := c.GetOrCreate(Key{Host: fmt.Sprint(i)}, ConfiguredHosts)
		<-e.Refresh(holding(time.Hour), func() FetchResult { return version(i) }, nil)
		if stats := c.Stats(ConfiguredHosts); c.Get(e.Key()) != e || e.State() == nil || stats.Entries != 1 || int(stats.Evicted) != i {
			t.Errorf("entry %d: evicted %t, of all %+v", i, c.Get(e.Key()) == nil, stats)
		}
	}
}

// TestUsedSeconds counts each second with a use once, up to the maximum.
func TestUsedSeconds(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 10, Bytes: 1 << 20, ConcurrentFetches: 1})
	e := c.GetOrCreate(Key{Host: "a.test"}, ConfiguredHosts)
	for range 3 {
		if e.Touch(clock.now()); e.usedSeconds.Load() != 0 {
			t.Errorf("usedSeconds is %d after a use in the first second", e.usedSeconds.Load())
		}
	}
	for second := range int32(10) {
		clock.advance(time.Second)
		for range 3 {
			e.Touch(clock.now())
		}
		if want := min(second+1, protectedUsedSeconds); e.usedSeconds.Load() != want {
			t.Fatalf("after %d seconds: used %d times, want %d", second+1, e.usedSeconds.Load(), want)
		}
	}
}

// TestCacheBoundIsExact evicts nothing at the bound, and one entry at one byte more.
func TestCacheBoundIsExact(t *testing.T) {
	fill := func(bytes, sites int) CacheStats {
		c, _ := newTestCache(Bounds{Entries: 1000, Bytes: bytes, ConcurrentFetches: 1})
		for i := range sites {
			<-c.GetOrCreate(Key{Host: fmt.Sprint(i)}, ConfiguredHosts).Refresh(holding(time.Hour), func() FetchResult { return version(i) }, nil)
		}
		c.GetOrCreate(Key{Host: "last"}, ConfiguredHosts)
		return c.Stats(ConfiguredHosts)
	}
	whole := fill(1<<20, 3)
	if whole.Evicted != 0 {
		t.Fatalf("%d entries below the bound were evicted", whole.Evicted)
	}
	if got := fill(whole.Bytes, 3); got.Evicted != 0 {
		t.Errorf("%d entries at the bound were evicted", got.Evicted)
	}
	if got := fill(whole.Bytes-1, 3); got.Evicted != 1 {
		t.Errorf("%d entries were evicted for one byte above the bound, want 1", got.Evicted)
	}
}
