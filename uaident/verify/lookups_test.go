package verify

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// invented returns the i-th of many addresses, each in a separate network.
func invented(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(20 + i>>16), byte(i >> 8), byte(i), 1})
}

func TestManyClaimedAddresses(t *testing.T) { synctest.Test(t, testManyClaimedAddresses) }

func testManyClaimedAddresses(t *testing.T) {
	dns, clock := honestDNS(), newClock()
	v := configured(t, Options{Resolver: dns, Now: clock.Now, MaxVerified: 64, MaxOtherResults: 1024},
		Config{Crawlers: crawlers(), ReverseDNS: true})
	real := netip.MustParseAddr("192.0.2.1")
	if got := settled(t, v, &fooBot, "192.0.2.1"); got.State != Verified {
		t.Fatal(got)
	}
	before := dns.count()
	const claims = 100_000
	seconds := 0
	for i := range claims {
		if i%10_000 == 0 && i > 0 {
			clock.Add(time.Second)
			seconds++
		}
		if got := v.Check(&fooBot, invented(i)); got.State == Verified {
			t.Fatalf("%s is %s", invented(i), got.State)
		}
	}
	idle(t, v)
	s := v.Stats()
	// One query for each lookup, because the addresses have no name.
	if asked, most := dns.count()-before, 50*(4+seconds+1); asked > most || asked == 0 {
		t.Errorf("%d claims caused %d queries in %d s, want at most %d", claims, asked, seconds, most)
	}
	if verified, others := v.results.verifiedResults.held(), v.results.otherResults.held(); verified != 1 || others > v.results.otherResults.most() {
		t.Errorf("%d verified and %d other results are cached", verified, others)
	}
	if s.LookupsDropped == 0 {
		t.Error("no lookup was dropped")
	}
	if got := v.Check(&fooBot, real); got.State != Verified {
		t.Errorf("the genuine crawler is %s after the flood", got.State)
	}
}

func TestManyFailuresDoNotDisplaceVerified(t *testing.T) {
	now := monotime(time.Hour)
	r := newResultCache(64, 256)
	for i := range 32 {
		r.putResult(newResult(newResultKey(invented(i), 1), Verified, nil, now), now)
	}
	kept := func() (n int) {
		for i := range 32 {
			if found := r.findResult(newResultKey(invented(i), 1)); found != nil && found.state == Verified {
				n++
			}
		}
		return n
	}
	before := kept()
	if before < 24 { // some results share a bucket
		t.Fatalf("%d of 32 kept", before)
	}
	for i := range 100_000 {
		r.putResult(newResult(newResultKey(invented(1000+i), 1), Spoofed, nil, now), now)
	}
	if got := kept(); got != before {
		t.Errorf("%d of %d verified results are still cached", got, before)
	}
	if got := r.otherResults.held(); got > 256 {
		t.Errorf("%d results are cached", got)
	}
	// A new state moves a result to the other table.
	s := newResultKey(invented(1000+99_999), 1)
	r.putResult(newResult(s, Verified, r.findResult(s), now), now)
	if found := r.otherResults.findResult(r.hash(s), s); found != nil {
		t.Error("a verified address is still in the other table")
	}
}

func TestQueueIsBounded(t *testing.T) {
	dns := honestDNS()
	dns.gate = make(chan struct{})
	const lookups, queue = 4, 64
	v := configured(t, Options{Resolver: dns, MaxLookups: lookups, MaxQueued: queue, MaxRate: 1_000_000, LookupTimeout: time.Hour},
		Config{Crawlers: crawlers(), ReverseDNS: true})
	goroutines := runtime.NumGoroutine()
	var wait sync.WaitGroup
	for part := range 4 {
		wait.Go(func() {
			for i := range 25_000 {
				if got := v.Check(&fooBot, invented(part*25_000+i)); got.State != Unknown {
					t.Errorf("%s before the first response", got.State)
					return
				}
			}
		})
	}
	wait.Wait()
	s := v.Stats()
	if s.Running > lookups || s.Waiting > queue || s.Waiting == 0 {
		t.Errorf("%+v", s)
	}
	if got := runtime.NumGoroutine(); got > goroutines+lookups+16 {
		t.Errorf("%d goroutines, %d before", got, goroutines)
	}
	close(dns.gate)
	idle(t, v)
	if got := settled(t, v, &fooBot, "192.0.2.1"); got.State != Verified {
		t.Errorf("the genuine crawler is %s after the flood", got.State)
	}
}

func TestNetworkHasShareOfQueue(t *testing.T) {
	dns := honestDNS()
	dns.gate = make(chan struct{})
	v := configured(t, Options{Resolver: dns, MaxLookups: 1, MaxQueued: 64, MaxRate: 1_000_000, LookupTimeout: time.Hour},
		Config{Crawlers: crawlers(), ReverseDNS: true})
	for i := range 10_000 { // all from one network
		v.Check(&fooBot, netip.MustParseAddr(fmt.Sprintf("2001:db8:0:%x::1", i)))
	}
	if s := v.Stats(); s.Running+s.Waiting != 64/networkShare {
		t.Errorf("one network has %d lookups", s.Running+s.Waiting)
	}
	v.Check(&fooBot, netip.MustParseAddr("192.0.2.1"))
	close(dns.gate)
	idle(t, v)
	if got := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); got.State != Verified {
		t.Errorf("the genuine crawler is %s", got.State)
	}
}

func TestRecheckHasRoomOfItsOwn(t *testing.T) { synctest.Test(t, testRecheckHasRoomOfItsOwn) }

func testRecheckHasRoomOfItsOwn(t *testing.T) {
	dns, clock := honestDNS(), newClock()
	v := configured(t, Options{Resolver: dns, Now: clock.Now, MaxLookups: 1, MaxQueued: 64, MaxRate: 1, LookupTimeout: time.Hour},
		Config{Crawlers: crawlers(), ReverseDNS: true})
	settled(t, v, &fooBot, "192.0.2.1")
	clock.Add(22 * time.Hour)
	for i := range 1000 { // fills the queue and uses up the rate
		v.Check(&fooBot, invented(i))
	}
	synctest.Wait()
	if s := v.Stats(); s.Waiting == 0 {
		t.Fatal("no lookup waits")
	}
	before := dns.count()
	v.Check(&fooBot, netip.MustParseAddr("192.0.2.1"))
	synctest.Wait()
	if got := dns.count() - before; got != 2 {
		t.Errorf("DNS was queried %d times about the genuine crawler, want 2", got)
	}
	idle(t, v)
	clock.Add(3 * time.Hour)
	if got := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); got.State != Verified {
		t.Errorf("the genuine crawler is %s", got.State)
	}
	idle(t, v)
}

// TestNotAskedTwice checks a result that is stored between the read of the cache and the start of a
// lookup.
func TestNotAskedTwice(t *testing.T) {
	dns := honestDNS()
	v := configured(t, Options{Resolver: dns}, Config{Crawlers: crawlers(), ReverseDNS: true})
	settled(t, v, &fooBot, "192.0.2.1")
	before := dns.count()
	p, addr := v.activeConfig.Load().plans["FooBot"], netip.MustParseAddr("192.0.2.1")
	v.lookups.enqueue(lookupJob{resultKey: newResultKey(addr, p.scope), address: addr, suffixes: p.suffixes, resolver: p.resolver}, v.now(), false)
	idle(t, v)
	if got := dns.count(); got != before {
		t.Errorf("DNS was queried %d more times", got-before)
	}
}

func TestParallelUse(t *testing.T) {
	dns := honestDNS()
	v := configured(t, Options{Resolver: dns, MaxVerified: 8, MaxOtherResults: 8, MaxRate: 1_000_000},
		Config{Crawlers: crawlers(), ReverseDNS: true})
	var wait sync.WaitGroup
	for part := range 8 {
		wait.Go(func() {
			for i := range 2000 {
				v.Check(&fooBot, invented((part*i)%100))
				if f := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); f.State == Spoofed {
					t.Error("the genuine crawler is spoofed")
				}
				if f := v.Check(&fooBot, netip.MustParseAddr("203.0.113.1")); f.State == Verified {
					t.Error("the spoofed client is verified")
				}
				if i%500 == 0 {
					v.Stats()
					v.Lists()
					if err := v.Configure(Config{Crawlers: crawlers(), ReverseDNS: true}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
	idle(t, v)
	if r := v.results; r.verifiedResults.held() > r.verifiedResults.most() || r.otherResults.held() > r.otherResults.most() {
		t.Errorf("%d verified and %d other results are cached", r.verifiedResults.held(), r.otherResults.held())
	}
}

// held returns the number of results in memory, including expired results.
func (p *resultTable) held() (n int) {
	for i := range p.buckets {
		for j := range p.buckets[i] {
			if p.buckets[i][j].Load() != nil {
				n++
			}
		}
	}
	return n
}

// most returns the maximum number of results.
func (p *resultTable) most() int { return len(p.buckets) * resultsPerBucket }
