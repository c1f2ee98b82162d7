package policy

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// testClock is a clock that the test sets.
type testClock struct{ nanoseconds atomic.Int64 }

func (c *testClock) now() time.Time { return epoch.Add(time.Duration(c.nanoseconds.Load())) }

func (c *testClock) advance(d time.Duration) { c.nanoseconds.Add(int64(d)) }

func newTestCache(b Bounds) (*Cache, *testClock) {
	clock := new(testClock)
	return NewCache(b, b, clock.now, nil), clock
}

var roomy = Bounds{Entries: 1000, Bytes: 1 << 20, ConcurrentFetches: 10}

func answering(body string) func() FetchResult {
	return func() FetchResult { return FetchResult{Status: 200, Body: []byte(body)} }
}

func TestCacheCoalescesFetches(t *testing.T) {
	c, _ := newTestCache(roomy)
	release := make(chan struct{})
	var reads atomic.Int32
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			e := c.Get(Key{Host: "example.com"})
			if e == nil {
				e = c.GetOrCreate(Key{Host: "example.com"}, ConfiguredHosts)
			}
			if done := e.Refresh(holding(time.Hour), func() FetchResult { reads.Add(1); <-release; return forbidding }, nil); done != nil {
				<-done
			}
			if e.State() == nil {
				t.Error("a waiting caller got no copy")
			}
		})
	}
	time.AfterFunc(10*time.Millisecond, func() { close(release) })
	wg.Wait()
	if got := reads.Load(); got != 1 {
		t.Errorf("read %d times, want 1", got)
	}
}

func TestRefreshReportsStates(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "example.com"}, ConfiguredHosts)
	type change struct{ before, after State }
	changes := make(chan change, 1)
	settled := func(before, after State) { changes <- change{before, after} }
	<-e.Refresh(holding(time.Hour), func() FetchResult { return forbidding }, settled)
	if got := <-changes; got.before.Current != nil || got.after.Current == nil {
		t.Errorf("first: %+v", got)
	}
	clock.advance(2 * time.Hour)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return failing }, settled)
	if got := <-changes; got.before.FailureCount != 0 || got.after.FailureCount != 1 {
		t.Errorf("second: %+v", got)
	}
}

func TestCacheGetDoesNotAllocate(t *testing.T) {
	c, clock := newTestCache(roomy)
	key := Key{IsHTTPS: true, Host: "example.com"}
	c.GetOrCreate(key, ConfiguredHosts)
	if n := testing.AllocsPerRun(100, func() { c.Get(key).Touch(clock.now()) }); n != 0 {
		t.Errorf("Get and Use allocate %v times", n)
	}
}

func BenchmarkCacheGet(b *testing.B) {
	c := NewCache(Bounds{Entries: 10_000}, roomy, time.Now, nil)
	for i := range 10_000 {
		c.GetOrCreate(Key{Host: fmt.Sprintf("host%d.example", i)}, ConfiguredHosts)
	}
	key := Key{Host: "host77.example"}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if c.Get(key) == nil {
				b.Fail()
			}
		}
	})
}

func TestCacheRefetchesPossiblyChangedCopy(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "example.com"}, ConfiguredHosts)
	e.MarkPossiblyChanged(clock.now())
	if e.IsPossiblyChanged() {
		t.Error("an entry without a copy is due")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	e.MarkPossiblyChanged(clock.now())
	if e.IsDue(clock.now()) {
		t.Error("a new copy is due")
	}
	clock.advance(changeRecheckInterval)
	e.MarkPossiblyChanged(clock.now())
	if !e.IsPossiblyChanged() || !e.IsDue(clock.now()) {
		t.Error("a possibly changed copy is not due")
	}
	<-e.Refresh(holding(time.Hour), func() FetchResult { return failing }, nil)
	if !e.IsPossiblyChanged() || e.IsDue(clock.now()) {
		t.Error("the entry is due before the end of the wait after a failure")
	}
	clock.advance(2 * time.Second)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(2) }, nil)
	if e.IsPossiblyChanged() || ruleOf(e.State().Current) != "2" {
		t.Error("the new copy is still marked")
	}
}

func TestCacheMakesAnEntryDue(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.GetOrCreate(Key{Host: "example.com"}, ConfiguredHosts)
	e.MakeDue() // an entry without a fetch is due anyway
	<-e.Refresh(holding(time.Hour), func() FetchResult { return version(1) }, nil)
	clock.advance(time.Minute)
	e.MakeDue()
	if !e.IsDue(clock.now()) || ruleOf(e.State().Current) != "1" {
		t.Errorf("after MakeDue: %+v", e.State())
	}
	answers := make(chan FetchResult)
	done := e.Refresh(holding(time.Hour), func() FetchResult { return <-answers }, nil)
	e.MakeDue() // the running fetch may have started before the change
	answers <- failing
	if <-done; !e.IsDue(clock.now()) {
		t.Error("MakeDue during a fetch has no effect after the fetch")
	}
	if entries := c.Entries(); len(entries) != 1 || entries[0] != e || e.Segment() != ConfiguredHosts || e.Key().String() != "http://example.com" {
		t.Errorf("entries = %v", entries)
	}
}

// TestCacheSharesFetchesFairly makes the fetches of some sites hang. Fetches of other
// sites continue.
func TestCacheSharesFetchesFairly(t *testing.T) {
	type turn struct {
		tries, want int // for another site
	}
	for _, tc := range []struct {
		name    string
		segment Segment
		key     func(site, i int) Key
		turns   []turn
	}{
		{"one site takes all while it is alone, others at least one", UnknownHosts, hostOfSite, []turn{{20, 8}, {20, 1}, {20, 1}}},
		{"the second of two has half, of three a third what is left", UnknownHosts, hostOfSite, []turn{{3, 3}, {20, 4}, {20, 1}, {20, 1}}},
		{"sites that the configuration names have what there is", ConfiguredHosts, hostOfSite, []turn{{3, 3}, {20, 5}, {20, 0}}},
		{"so have their sources", ConfiguredHosts, func(site, i int) Key { return Key{Source: fmt.Sprintf("https://%d.test/%d", site, i)} }, []turn{{3, 3}, {20, 5}, {20, 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, _ := newTestCache(Bounds{Entries: 1000, Bytes: 1 << 20, ConcurrentFetches: 8})
			release := make(chan struct{})
			slow := func() FetchResult { <-release; return forbidding }
			var under []<-chan struct{}
			for site, turn := range tc.turns {
				began := 0
				for i := range turn.tries {
					if done := c.GetOrCreate(tc.key(site, i), tc.segment).Refresh(holding(time.Hour), slow, nil); done != nil {
						began++
						under = append(under, done)
					}
				}
				if began != turn.want {
					t.Errorf("site %d began %d attempts, want %d", site, began, turn.want)
				}
			}
			close(release)
			for _, done := range under {
				<-done
			}
			for _, seg := range c.segments {
				if seg.runningFetches != 0 || len(seg.fetchesBySite) != 0 {
					t.Errorf("%d fetches of %d sites are still counted", seg.runningFetches, len(seg.fetchesBySite))
				}
			}
		})
	}
}

// hostOfSite returns the key of one of the hosts of a site.
func hostOfSite(site, i int) Key {
	name := fmt.Sprintf("*.site%d.test", site)
	return Key{Site: name, Host: fmt.Sprintf("%d%s", i, name)}
}
