package policy

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// testClock is a clock that moves by hand.
type testClock struct{ nanoseconds atomic.Int64 }

func (c *testClock) now() time.Time          { return epoch.Add(time.Duration(c.nanoseconds.Load())) }
func (c *testClock) advance(d time.Duration) { c.nanoseconds.Add(int64(d)) }

func newTestCache(b Bounds) (*Cache, *testClock) {
	clock := new(testClock)
	return NewCache(b, b, clock.now, nil), clock
}

var roomy = Bounds{Entries: 1000, Bytes: 1 << 20, Reads: 10}

func answering(body string) func() Answer {
	return func() Answer { return Answer{Status: 200, Body: []byte(body)} }
}

func TestCacheReadsOnceWhenDue(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "example.com"}, Named)
	if e.Standing() != nil || !e.Due(clock.now()) {
		t.Fatal("a new entry should know nothing and be due")
	}
	var reads atomic.Int32
	read := func() Answer { reads.Add(1); return forbidding }
	<-e.Refresh(holding(time.Hour), read, nil)
	if e.Refresh(holding(time.Hour), read, nil) != nil {
		t.Error("an entry that is not due was read again")
	}
	clock.advance(time.Hour)
	<-e.Refresh(holding(time.Hour), read, nil)
	if got := reads.Load(); got != 2 {
		t.Errorf("read %d times, want 2", got)
	}
	if e.Standing().Good.Robots.RuleCount() != 1 {
		t.Error("the rules are not there")
	}
}

func TestCacheCoalescesReads(t *testing.T) {
	c, _ := newTestCache(roomy)
	release := make(chan struct{})
	var reads atomic.Int32
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			e := c.Get(Key{Host: "example.com"})
			if e == nil {
				e = c.Add(Key{Host: "example.com"}, Named)
			}
			if done := e.Refresh(holding(time.Hour), func() Answer { reads.Add(1); <-release; return forbidding }, nil); done != nil {
				<-done
			}
			if e.Standing() == nil {
				t.Error("a caller that waited found nothing")
			}
		})
	}
	time.AfterFunc(10*time.Millisecond, func() { close(release) })
	wg.Wait()
	if got := reads.Load(); got != 1 {
		t.Errorf("read %d times, want 1", got)
	}
}

func TestCacheFailedRefreshKeepsTheGoodCopy(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "example.com"}, Named)
	<-e.Refresh(holding(time.Hour), answering("User-agent: *\nDisallow: /\n"), nil)
	clock.advance(2 * time.Hour)
	<-e.Refresh(holding(time.Hour), func() Answer { return failing }, nil)
	if s := e.Standing(); s.Good == nil || s.Failures != 1 || s.Good.Robots.RuleCount() != 1 {
		t.Errorf("after a failed refresh: %+v", s)
	}
}

func TestCacheBoundsReadsOfASegment(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 10, Bytes: 1 << 20, Reads: 2})
	release := make(chan struct{})
	defer close(release)
	slow := func() Answer { <-release; return forbidding }
	for i := range 2 {
		if c.Add(Key{Host: fmt.Sprint(i)}, Invented).Refresh(holding(time.Hour), slow, nil) == nil {
			t.Fatalf("read %d was refused", i)
		}
	}
	if c.Add(Key{Host: "2"}, Invented).Refresh(holding(time.Hour), slow, nil) != nil {
		t.Error("a third read was allowed")
	}
	if c.Add(Key{Host: "example.com"}, Named).Refresh(holding(time.Hour), slow, nil) == nil {
		t.Error("invented hosts kept a named one from being read")
	}
}

func TestCacheEvictsTheLeastUsed(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 3, Bytes: 1 << 20, Reads: 1})
	for i := range 3 {
		c.Add(Key{Host: fmt.Sprint(i)}, Named)
	}
	clock.advance(time.Minute)
	c.Get(Key{Host: "0"}).Use(clock.now())
	c.Add(Key{Host: "3"}, Named)
	for host, want := range map[string]bool{"0": true, "1": false, "2": true, "3": true} {
		if got := c.Get(Key{Host: host}) != nil; got != want {
			t.Errorf("%s is kept: %t, want %t", host, got, want)
		}
	}
	if stats := c.Stats(Named); stats.Entries != 3 || stats.Evicted != 1 {
		t.Errorf("stats = %+v", stats)
	}
}

// TestCacheEvictsWhatCanBeReadAgain gives entries a second chance whose eviction
// would be noticed, and none too many.
func TestCacheEvictsWhatCanBeReadAgain(t *testing.T) {
	fail := func() Answer { return failing }
	text := func(n int) func() Answer { return func() Answer { return version(n) } }
	for _, tc := range []struct {
		name   string
		before []func() Answer // the answers of the oldest entry
		later  time.Duration   // until something is evicted
		kept   bool
	}{
		{"one version", []func() Answer{text(1)}, time.Minute, false},
		{"never read", nil, time.Minute, false},
		{"never read with success", []func() Answer{fail}, time.Minute, false},
		{"changed lately", []func() Answer{text(1), text(2)}, time.Hour, true},
		{"changed a day ago", []func() Answer{text(1), text(2)}, MaxAge, false},
		{"cannot be read", []func() Answer{text(1), fail}, 48 * time.Hour, true},
		{"can be read again", []func() Answer{text(1), fail, text(1)}, time.Minute, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, clock := newTestCache(Bounds{Entries: 3, Bytes: 1 << 20, Reads: 1})
			old := c.Add(Key{Host: "old"}, Named)
			for _, read := range tc.before {
				old.Hasten()
				<-old.Refresh(holding(time.Hour), read, nil)
			}
			clock.advance(tc.later)
			for i := range 2 {
				<-c.Add(Key{Host: fmt.Sprint(i)}, Named).Refresh(holding(time.Hour), text(i), nil)
			}
			c.Add(Key{Host: "2"}, Named)
			if got := c.Get(Key{Host: "old"}) != nil; got != tc.kept {
				t.Errorf("it is kept: %t, want %t", got, tc.kept)
			}
			if n := c.Stats(Named).Entries; n != 3 {
				t.Errorf("%d entries, want 3", n)
			}
		})
	}
	t.Run("all of them", func(t *testing.T) {
		const most = 100
		c, clock := newTestCache(Bounds{Entries: most, Bytes: 1 << 20, Reads: 1})
		for i := range 3 * most {
			e := c.Add(Key{Host: fmt.Sprint(i)}, Named)
			<-e.Refresh(holding(time.Hour), text(1), nil)
			clock.advance(time.Hour)
			<-e.Refresh(holding(time.Hour), fail, nil)
		}
		if stats := c.Stats(Named); stats.Entries != most || stats.Evicted != 2*most {
			t.Errorf("%+v", stats)
		}
	})
}

func TestCacheInventedHostsDoNotEvictNamedOnes(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 10, Bytes: 1 << 16, Reads: 4})
	named := c.Add(Key{Host: "example.com"}, Named)
	<-named.Refresh(holding(time.Hour), func() Answer { return forbidding }, nil)
	for i := range 10_000 {
		e := c.Add(Key{Host: fmt.Sprintf("%d.invented", i)}, Invented)
		if done := e.Refresh(holding(time.Hour), answering(fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i)), nil); done != nil && i%100 == 0 {
			<-done
		}
	}
	if c.Get(Key{Host: "example.com"}) != named || named.Standing().Good == nil {
		t.Error("the named site is gone")
	}
	if stats := c.Stats(Invented); stats.Entries > 10 {
		t.Errorf("%d invented hosts are kept, want at most 10", stats.Entries)
	}
}

func TestCacheIsBoundedByBytes(t *testing.T) {
	const bound = 100_000
	c, _ := newTestCache(Bounds{Entries: 1000, Bytes: bound, Reads: 1})
	for i := range 100 {
		body := fmt.Sprintf("User-agent: *\n# %d\n%s", i, strings.Repeat("Disallow: /x\n", 100))
		<-c.Add(Key{Host: fmt.Sprint(i)}, Named).Refresh(holding(time.Hour), answering(body), nil)
		if stats := c.Stats(Named); stats.Bytes > bound {
			t.Fatalf("after %d sites: %d bytes, want at most %d", i, stats.Bytes, bound)
		}
	}
	if stats := c.Stats(Named); stats.Evicted == 0 || stats.Entries == 0 {
		t.Errorf("stats = %+v", stats)
	}
}

func TestCacheSharesEqualTexts(t *testing.T) {
	clock := new(testClock)
	derived := 0
	c := NewCache(roomy, roomy, clock.now, func(r *Robots) any { derived++; return r.Names() })
	var first *Version
	for i := range 50 {
		e := c.Add(Key{Host: fmt.Sprint(i)}, Named)
		<-e.Refresh(holding(time.Hour), answering("User-agent: FooBot\nDisallow: /\n"), nil)
		good := e.Standing().Good
		if first == nil {
			first = good
		}
		if good.Robots != first.Robots {
			t.Fatal("equal texts were compiled twice")
		}
		if names, _ := good.Derived.([]string); len(names) != 1 || names[0] != "FooBot" {
			t.Fatalf("derived = %v", good.Derived)
		}
	}
	if stats := c.Stats(Named); stats.Bytes != first.Robots.Size() {
		t.Errorf("bytes = %d, want %d: equal texts count once", stats.Bytes, first.Robots.Size())
	}
	clock.advance(2 * time.Hour)
	for i := range 50 {
		<-c.Get(Key{Host: fmt.Sprint(i)}).Refresh(holding(time.Hour), func() Answer { return missing }, nil)
	}
	if got, want := c.Stats(Named).Bytes, Parse(nil).Size()+first.Robots.Size(); got != want {
		t.Errorf("bytes = %d after all texts changed, want %d: the new one and the one before", got, want)
	}
}

func TestCacheTellsWhatSettled(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "example.com"}, Named)
	type change struct{ before, after Standing }
	changes := make(chan change, 1)
	settled := func(before, after Standing) { changes <- change{before, after} }
	<-e.Refresh(holding(time.Hour), func() Answer { return forbidding }, settled)
	if got := <-changes; got.before.Good != nil || got.after.Good == nil {
		t.Errorf("first: %+v", got)
	}
	clock.advance(2 * time.Hour)
	<-e.Refresh(holding(time.Hour), func() Answer { return failing }, settled)
	if got := <-changes; got.before.Failures != 0 || got.after.Failures != 1 {
		t.Errorf("second: %+v", got)
	}
}

func TestCacheGetDoesNotAllocate(t *testing.T) {
	c, clock := newTestCache(roomy)
	key := Key{Secure: true, Host: "example.com"}
	c.Add(key, Named)
	if n := testing.AllocsPerRun(100, func() { c.Get(key).Use(clock.now()) }); n != 0 {
		t.Errorf("Get and Use allocate %v times", n)
	}
}

func BenchmarkCacheGet(b *testing.B) {
	c := NewCache(Bounds{Entries: 10_000}, roomy, time.Now, nil)
	for i := range 10_000 {
		c.Add(Key{Host: fmt.Sprintf("host%d.example", i)}, Named)
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

func TestCacheRereadsADoubtedCopy(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "example.com"}, Named)
	e.Doubt(clock.now())
	if e.Doubted() {
		t.Error("there is no copy to doubt yet")
	}
	<-e.Refresh(holding(time.Hour), func() Answer { return version(1) }, nil)
	e.Doubt(clock.now())
	if e.Doubted() || e.Due(clock.now()) {
		t.Error("a copy that was just read is doubted")
	}
	clock.advance(doubtInterval)
	e.Doubt(clock.now())
	if !e.Doubted() || !e.Due(clock.now()) {
		t.Error("a doubted copy is not due")
	}
	<-e.Refresh(holding(time.Hour), func() Answer { return failing }, nil)
	if !e.Doubted() || e.Due(clock.now()) {
		t.Error("a failure settles no doubt, but has to be waited out")
	}
	clock.advance(2 * time.Second)
	<-e.Refresh(holding(time.Hour), func() Answer { return version(2) }, nil)
	if e.Doubted() || ruleOf(e.Standing().Good) != "2" {
		t.Error("the new copy is doubted")
	}
}

func TestCacheHastensAnEntry(t *testing.T) {
	c, clock := newTestCache(roomy)
	e := c.Add(Key{Host: "example.com"}, Named)
	e.Hasten() // nothing is known: it is due anyhow
	<-e.Refresh(holding(time.Hour), func() Answer { return version(1) }, nil)
	clock.advance(time.Minute)
	e.Hasten()
	if !e.Due(clock.now()) || ruleOf(e.Standing().Good) != "1" {
		t.Errorf("after Hasten: %+v", e.Standing())
	}
	answers := make(chan Answer)
	done := e.Refresh(holding(time.Hour), func() Answer { return <-answers }, nil)
	e.Hasten() // what is being read may be older than this
	answers <- failing
	if <-done; !e.Due(clock.now()) {
		t.Error("hastened during a reading, and not due after it")
	}
	if all := c.Entries(); len(all) != 1 || all[0] != e || e.Segment() != Named || e.Key().String() != "http://example.com" {
		t.Errorf("entries = %v", all)
	}
}

// TestCacheKeepsHostsInUse holds tenants of a catch-all site against somebody who
// invents hosts.
func TestCacheKeepsHostsInUse(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 1000, Bytes: 32 << 20, Reads: 8})
	var tenants []*Entry
	for i := range 100 {
		tenants = append(tenants, c.Add(Key{Host: fmt.Sprintf("tenant%d.test", i)}, Invented))
	}
	for range 3 {
		clock.advance(time.Minute)
		for _, e := range tenants {
			e.Use(clock.now())
		}
	}
	for i := range 11_000 {
		c.Add(Key{Host: fmt.Sprintf("%d.invented.test", i)}, Invented).Use(clock.now())
	}
	for _, e := range tenants {
		if c.Get(e.Key()) != e {
			t.Fatalf("%s is gone", e.Key())
		}
	}
	if n := c.Stats(Invented).Entries; n != 1000 {
		t.Errorf("%d hosts are kept, want 1000", n)
	}
}

func TestCacheSharedText(t *testing.T) {
	c, _ := newTestCache(roomy)
	site := func(host string) Key { return Key{Server: ":443", Site: "*.shop.test", Secure: true, Host: host} }
	read := func(key Key, a Answer) {
		e := c.Add(key, Invented)
		e.Hasten()
		<-e.Refresh(holding(time.Hour), func() Answer { return a }, nil)
	}
	shared := func() string {
		if s := c.Shared(site("new.shop.test")); s != nil {
			return ruleOf(s.Good)
		}
		return ""
	}
	if shared() != "" {
		t.Error("a text is shared where none is known")
	}
	read(site("a.shop.test"), version(1))
	read(site("b.shop.test"), version(1))
	if got := shared(); got != "1" {
		t.Errorf("all hosts have version 1, the shared one is %q", got)
	}
	read(Key{Server: ":443", Site: "", Secure: true, Host: "other.test"}, version(2))
	read(Key{Server: ":8443", Site: "*.shop.test", Secure: true, Host: "c.shop.test"}, version(2))
	read(Key{Server: ":443", Site: "*.shop.test", Host: "c.shop.test"}, version(2))
	if got := shared(); got != "1" {
		t.Errorf("another site, server or scheme has version 2, the shared one is %q", got)
	}
	read(site("b.shop.test"), version(2))
	if got := shared(); got != "" {
		t.Errorf("the hosts differ, and %q is shared", got)
	}
	read(site("a.shop.test"), version(2))
	if got := shared(); got != "2" {
		t.Errorf("all hosts have version 2, the shared one is %q", got)
	}
	if n := testing.AllocsPerRun(100, func() { c.Shared(site("new.shop.test")) }); n != 0 {
		t.Errorf("Shared allocates %v times", n)
	}
}

// TestCacheSharesReadsFairly lets one site hang and others read.
func TestCacheSharesReadsFairly(t *testing.T) {
	c, _ := newTestCache(Bounds{Entries: 1000, Bytes: 1 << 20, Reads: 8})
	release := make(chan struct{})
	slow := func() Answer { <-release; return forbidding }
	var under []<-chan struct{}
	begin := func(site string) (n int) {
		for i := range 20 {
			if done := c.Add(Key{Site: site, Host: fmt.Sprintf("%d%s", i, site)}, Invented).Refresh(holding(time.Hour), slow, nil); done != nil {
				n++
				under = append(under, done)
			}
		}
		return n
	}
	for i, want := range []int{8, 1, 1} {
		if got := begin(fmt.Sprintf("*.site%d.test", i)); got != want {
			t.Errorf("site %d began %d attempts, want %d", i, got, want)
		}
	}
	close(release)
	for _, done := range under {
		<-done
	}
	for _, kept := range c.kept {
		if kept.attempts != 0 || len(kept.reading) != 0 {
			t.Errorf("%d attempts of %d sites are left", kept.attempts, len(kept.reading))
		}
	}
}
