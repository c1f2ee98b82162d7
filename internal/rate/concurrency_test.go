package rate

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// concurrentRules returns rules that only limit concurrent requests.
func concurrentRules(n int) *Rules { return &Rules{Concurrent: n, Mode: Enforce} }

// TestSharedSlots checks which clients share slots. As with budgets, an impostor uses no slot of
// the verified crawler.
func TestSharedSlots(t *testing.T) {
	library := Client{Site: shop, Token: "curl", IsSharedSoftware: true}
	for _, tc := range []struct {
		name        string
		first, then Client
		shared      bool
	}{
		{"a verified crawler from another network", verified, *verified.from(9), true},
		{"a verified crawler and a claimed crawler", claimed, verified, false},
		{"a verified crawler and a spoofed client", Client{Site: shop, Token: "bingbot", Identity: verify.Spoofed}, verified, false},
		{"another crawler", verified, Client{Site: shop, Token: "CCBot", Identity: verify.Verified}, false},
		{"the same host as an unknown host", verified, Client{Site: shop, Token: "bingbot", Identity: verify.Verified, UnknownHost: true}, false},
		{"a claimed crawler from another network", claimed, *claimed.from(9), true},
		{"a library in two networks", *library.from(1), *library.from(2), false},
		{"a library in one network", *library.from(1), *library.from(1), true},
		{"two unknown clients from one network", *Client{Site: shop}.from(1), *Client{Site: shop}.from(1), true},
		{"two unknown clients from two networks", *Client{Site: shop}.from(1), *Client{Site: shop}.from(2), false},
	} {
		b := NewBudgets(start)
		first := b.ChargeRequest(start, &tc.first, concurrentRules(1))
		if first.Slot == nil || first.IsOverRate {
			t.Fatalf("%s: the first request has no slot: %+v", tc.name, first)
		}
		then := b.ChargeRequest(start, &tc.then, concurrentRules(1))
		if then.IsOverConcurrent != tc.shared || then.MustSlow != tc.shared || (then.Slot == nil) != tc.shared {
			t.Errorf("%s: %+v, want OverConcurrent %v", tc.name, then, tc.shared)
		}
		if then.IsOverConcurrent && (!then.IsOverLimit || then.Wait != concurrentRetryAfter) {
			t.Errorf("%s: %+v", tc.name, then)
		}
		first.Slot.ReleaseSlot()
		if again := b.ChargeRequest(start, &tc.then, concurrentRules(1)); tc.shared && again.IsOverRate {
			t.Errorf("%s: no free slot after a release: %+v", tc.name, again)
		}
	}
}

// TestNetworkGetsHalfOfSlots checks that one network with a claimed name gets at most half of the
// slots of the name.
func TestNetworkGetsHalfOfSlots(t *testing.T) {
	b := NewBudgets(start)
	var taken []*Concurrency
	from := func(network int) bool {
		p := b.ChargeRequest(start, claimed.from(network), concurrentRules(5))
		if p.Slot != nil {
			taken = append(taken, p.Slot)
		}
		return p.Slot != nil
	}
	for n := range 10 {
		if got := from(1); got != (n < 3) {
			t.Errorf("request %d of the first network has a slot: %t", n, got)
		}
	}
	for n := range 3 {
		if got := from(2); got != (n < 2) {
			t.Errorf("request %d of the second network has a slot: %t", n, got)
		}
	}
	for _, place := range taken {
		place.ReleaseSlot()
	}
	for n := range 5 {
		if !from(10 + n) {
			t.Errorf("no slot for request %d after all releases", n)
		}
	}
	if from(20) {
		t.Error("more slots are in use than the limit allows")
	}
}

// TestSlotsByMode checks that the number of used slots never exceeds the limit, in any mode and
// with any other limit. Requests over the rate use no slot.
func TestSlotsByMode(t *testing.T) {
	minute := Rule{Interval: time.Minute, Burst: 2}
	for _, tc := range []struct {
		name               string
		rules              Rules
		slots, over, slows int // of ten concurrent requests
	}{
		{"observe", Rules{Concurrent: 3}, 3, 7, 0},
		{"enforce", Rules{Concurrent: 3, Mode: Enforce}, 3, 7, 7},
		{"a search engine", Rules{Concurrent: 3, Mode: SlowSearch}, 3, 7, 0},
		{"a stricter rate, observe", Rules{Concurrent: 3, ConfiguredLimit: minute}, 2, 8, 0},
		{"a stricter rate", Rules{Concurrent: 3, ConfiguredLimit: minute, Mode: Enforce}, 2, 8, 8},
		{"a milder rate", Rules{Concurrent: 1, ConfiguredLimit: minute, Mode: Enforce}, 1, 9, 9},
		{"a delay", Rules{Concurrent: 3, CrawlDelay: minute, Tolerance: 1, Window: time.Minute, Mode: Enforce}, 2, 8, 8},
		{"a delay that the crawler ignores", Rules{Concurrent: 5, CrawlDelay: minute, Tolerance: 1, Window: time.Minute, IgnoresCrawlDelay: true, Mode: Enforce}, 5, 8, 5},
	} {
		b := NewBudgets(start)
		var taken []*Concurrency
		over, slowed := 0, 0
		for range 10 {
			p := b.ChargeRequest(start, &verified, &tc.rules)
			if p.Slot != nil {
				taken = append(taken, p.Slot)
			}
			if p.IsOverRate {
				over++
			}
			if p.MustSlow {
				slowed++
			}
		}
		if len(taken) != tc.slots || over != tc.over || slowed != tc.slows {
			t.Errorf("%s: %d slots, %d over, %d slowed, want %d, %d, %d", tc.name, len(taken), over, slowed, tc.slots, tc.over, tc.slows)
		}
		for _, place := range taken {
			place.ReleaseSlot()
		}
		if n := taken[0].inUse.Load(); n != 0 {
			t.Errorf("%s: %d slots are still in use", tc.name, n)
		}
	}
}

// TestFullChargesNothing checks that requests without a free slot are not charged to the rate.
func TestFullChargesNothing(t *testing.T) {
	b := NewBudgets(start)
	rules := &Rules{Concurrent: 1, ConfiguredLimit: Rule{Interval: time.Minute, Burst: 2}, Mode: Enforce}
	first := b.ChargeRequest(start, &verified, rules)
	for range 20 {
		if p := b.ChargeRequest(start, &verified, rules); !p.IsOverConcurrent {
			t.Fatalf("%+v", p)
		}
	}
	first.Slot.ReleaseSlot()
	if p := b.ChargeRequest(start, &verified, rules); p.IsOverRate {
		t.Errorf("the second of two allowed requests: %+v", p)
	}
}

// TestSlotsSurviveReload checks that running requests still count after a reload with another
// limit.
func TestSlotsSurviveReload(t *testing.T) {
	b := NewBudgets(start)
	running := b.ChargeRequest(start, &verified, &Rules{Concurrent: 5, ConfiguredLimit: Rule{Interval: time.Second, Burst: 5}, Mode: Enforce})
	if p := b.ChargeRequest(start, &verified, concurrentRules(1)); !p.IsOverConcurrent {
		t.Errorf("the running request is not counted: %+v", p)
	}
	running.Slot.ReleaseSlot()
	if p := b.ChargeRequest(start, &verified, concurrentRules(1)); p.IsOverConcurrent {
		t.Errorf("%+v", p)
	}
}

// TestHeldSlot checks that a request with a slot neither takes a second slot nor releases the
// first.
func TestHeldSlot(t *testing.T) {
	b := NewBudgets(start)
	first := b.ChargeRequest(start, &verified, concurrentRules(1))
	nested := verified
	nested.HeldSlot = first.Slot
	if p := b.ChargeRequest(start, &nested, concurrentRules(1)); p.IsOverRate || p.Slot != nil {
		t.Errorf("%+v", p)
	}
	if n := first.Slot.inUse.Load(); n != 1 {
		t.Errorf("%d slots are in use, want 1", n)
	}
}

// TestConcurrentSlots checks under concurrency that used slots never exceed the limit and are all
// released.
func TestConcurrentSlots(t *testing.T) {
	const most = 4
	b, rules := NewBudgets(start), concurrentRules(most)
	var under, peak, entered atomic.Int64
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for range 500 {
				p := b.ChargeRequest(start, verified.from(g), rules)
				if p.Slot == nil {
					continue
				}
				entered.Add(1)
				n := under.Add(1)
				for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
				}
				under.Add(-1)
				p.Slot.ReleaseSlot()
			}
		})
	}
	wg.Wait()
	if peak.Load() > most || entered.Load() == 0 {
		t.Errorf("%d concurrent requests of %d in total", peak.Load(), entered.Load())
	}
	if p := b.ChargeRequest(start, &verified, rules); p.IsOverConcurrent || p.Slot.inUse.Load() != 1 {
		t.Errorf("slots were lost: %+v", p)
	}
}

// TestBusySlotsAreNotEvicted invents many names while requests are running. The slots of running
// requests are not evicted, and the number of budgets stays bounded.
func TestBusySlotsAreNotEvicted(t *testing.T) {
	b, rules := NewBudgets(start), concurrentRules(1)
	b.ChargeRequest(start, &verified, rules)
	b.ChargeRequest(start, &claimed, rules)
	for i := range 50_000 {
		at := start.Add(time.Duration(i) * time.Second)
		for _, identity := range []verify.State{verify.Verified, verify.Claimed} {
			p := b.ChargeRequest(at, Client{Site: shop, Token: fmt.Sprintf("bot%d", i), Identity: identity}.from(i), rules)
			p.Slot.ReleaseSlot()
		}
	}
	for _, client := range []*Client{&verified, &claimed} {
		if p := b.ChargeRequest(start.Add(time.Hour), client, rules); !p.IsOverConcurrent {
			t.Errorf("%s: the slot of a running request was evicted: %+v", client.Identity, p)
		}
	}
	if n, most := b.Len(), 2*maxCrawlerBudgets+maxNetworkBudgets+3*maxUnknownHostBudgets; n > most {
		t.Errorf("%d budgets, want at most %d", n, most)
	}
}

// TestEvictedNameSlots evicts the slots of a claimed name while requests use some. Releases of the
// old slots do not free new slots.
func TestEvictedNameSlots(t *testing.T) {
	var network, evicted, current Concurrency
	for _, name := range []*Concurrency{&evicted, &evicted, &current} {
		if !network.acquireSlotOfNetworkAndName(name, 8) {
			t.Fatal("no free slot")
		}
	}
	for range 3 {
		network.ReleaseSlot()
	}
	for range 8 {
		if !current.acquireSlot(8) {
			t.Fatal("fewer than 8 slots")
		}
	}
	if current.acquireSlot(8) {
		t.Error("more than 8 slots")
	}
}
