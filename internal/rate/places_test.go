package rate

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// atOnce returns rules of a limit of so many requests at once, and nothing else.
func atOnce(n int) *Rules { return &Rules{Concurrent: n, Mode: Enforce} }

// TestPlaces tells who shares the places of whom: as with budgets, an impostor takes
// none of the real one's.
func TestPlaces(t *testing.T) {
	library := Client{Site: shop, Token: "curl", RunByMany: true}
	for _, tc := range []struct {
		name        string
		first, then Client
		shared      bool
	}{
		{"a verified crawler from another network", verified, *verified.from(9), true},
		{"a verified crawler and who claims to be it", claimed, verified, false},
		{"a verified crawler and who is known not to be it", Client{Site: shop, Token: "bingbot", Identity: verify.Spoofed}, verified, false},
		{"another crawler", verified, Client{Site: shop, Token: "CCBot", Identity: verify.Verified}, false},
		{"the same host, invented", verified, Client{Site: shop, Token: "bingbot", Identity: verify.Verified, UnknownHost: true}, false},
		{"who claims a name, from another network", claimed, *claimed.from(9), true},
		{"what many run, from another network", *library.from(1), *library.from(2), false},
		{"what many run, from one network", *library.from(1), *library.from(1), true},
		{"two names that nobody knows, from one network", *Client{Site: shop}.from(1), *Client{Site: shop}.from(1), true},
		{"names that nobody knows, from two networks", *Client{Site: shop}.from(1), *Client{Site: shop}.from(2), false},
	} {
		b := NewBudgets(start)
		first := b.Spend(start, &tc.first, atOnce(1))
		if first.Slot == nil || first.Over {
			t.Fatalf("%s: the first finds no place: %+v", tc.name, first)
		}
		then := b.Spend(start, &tc.then, atOnce(1))
		if then.OverConcurrent != tc.shared || then.Slowed != tc.shared || (then.Slot == nil) != tc.shared {
			t.Errorf("%s: %+v, want full %v", tc.name, then, tc.shared)
		}
		if then.OverConcurrent && (!then.OverLimit || then.Wait != concurrentWait) {
			t.Errorf("%s: %+v", tc.name, then)
		}
		first.Slot.Release()
		if again := b.Spend(start, &tc.then, atOnce(1)); tc.shared && again.Over {
			t.Errorf("%s: no place after one was given back: %+v", tc.name, again)
		}
	}
}

// TestNobodyTakesAllPlacesOfAName lets one network claim a name as often as it likes: half
// of the places are for the others that do.
func TestNobodyTakesAllPlacesOfAName(t *testing.T) {
	b := NewBudgets(start)
	var taken []*Concurrency
	from := func(network int) bool {
		p := b.Spend(start, claimed.from(network), atOnce(5))
		if p.Slot != nil {
			taken = append(taken, p.Slot)
		}
		return p.Slot != nil
	}
	for n := range 10 {
		if got := from(1); got != (n < 3) {
			t.Errorf("request %d of the first network has a place: %t", n, got)
		}
	}
	for n := range 3 {
		if got := from(2); got != (n < 2) {
			t.Errorf("request %d of the second has a place: %t", n, got)
		}
	}
	for _, place := range taken {
		place.Release()
	}
	for n := range 5 {
		if !from(10 + n) {
			t.Errorf("no place %d once all were given back", n)
		}
	}
	if from(20) {
		t.Error("there is one place more than there are")
	}
}

// TestWhatHoldsAPlace tells that by no mode, nor beside another limit, more hold places
// than there are, and that those that are one too many hold none.
func TestWhatHoldsAPlace(t *testing.T) {
	minute := Rule{Interval: time.Minute, Burst: 2}
	for _, tc := range []struct {
		name                string
		rules               Rules
		places, over, slows int // of ten requests that come at once
	}{
		{"observed", Rules{Concurrent: 3}, 3, 7, 0},
		{"enforced", Rules{Concurrent: 3, Mode: Enforce}, 3, 7, 7},
		{"a search engine", Rules{Concurrent: 3, Mode: SlowSearch}, 3, 7, 0},
		{"a stricter rate, observed", Rules{Concurrent: 3, Configured: minute}, 2, 8, 0},
		{"a stricter rate", Rules{Concurrent: 3, Configured: minute, Mode: Enforce}, 2, 8, 8},
		{"a milder rate", Rules{Concurrent: 1, Configured: minute, Mode: Enforce}, 1, 9, 9},
		{"a delay", Rules{Concurrent: 3, CrawlDelay: minute, Tolerance: 1, Window: time.Minute, Mode: Enforce}, 2, 8, 8},
		{"a delay that it does not read", Rules{Concurrent: 5, CrawlDelay: minute, Tolerance: 1, Window: time.Minute, Advisory: true, Mode: Enforce}, 5, 8, 5},
	} {
		b := NewBudgets(start)
		var taken []*Concurrency
		over, slowed := 0, 0
		for range 10 {
			p := b.Spend(start, &verified, &tc.rules)
			if p.Slot != nil {
				taken = append(taken, p.Slot)
			}
			if p.Over {
				over++
			}
			if p.Slowed {
				slowed++
			}
		}
		if len(taken) != tc.places || over != tc.over || slowed != tc.slows {
			t.Errorf("%s: %d hold places, %d over, %d slowed, want %d, %d, %d", tc.name, len(taken), over, slowed, tc.places, tc.over, tc.slows)
		}
		for _, place := range taken {
			place.Release()
		}
		if n := taken[0].inUse.Load(); n != 0 {
			t.Errorf("%s: %d places are left taken", tc.name, n)
		}
	}
}

// TestFullSpendsNothing lets requests that find no place spend nothing of the rate.
func TestFullSpendsNothing(t *testing.T) {
	b := NewBudgets(start)
	rules := &Rules{Concurrent: 1, Configured: Rule{Interval: time.Minute, Burst: 2}, Mode: Enforce}
	first := b.Spend(start, &verified, rules)
	for range 20 {
		if p := b.Spend(start, &verified, rules); !p.OverConcurrent {
			t.Fatalf("%+v", p)
		}
	}
	first.Slot.Release()
	if p := b.Spend(start, &verified, rules); p.Over {
		t.Errorf("the second of two that may come at once: %+v", p)
	}
}

// TestPlacesOutliveALimit counts what is under way by the limit before a reload, also
// where the limit is another one.
func TestPlacesOutliveALimit(t *testing.T) {
	b := NewBudgets(start)
	before := b.Spend(start, &verified, &Rules{Concurrent: 5, Configured: Rule{Interval: time.Second, Burst: 5}, Mode: Enforce})
	if p := b.Spend(start, &verified, atOnce(1)); !p.OverConcurrent {
		t.Errorf("the one that is under way is not known: %+v", p)
	}
	before.Slot.Release()
	if p := b.Spend(start, &verified, atOnce(1)); p.OverConcurrent {
		t.Errorf("%+v", p)
	}
}

// TestHeldPlace takes no second place for a request that has one, nor gives it back.
func TestHeldPlace(t *testing.T) {
	b := NewBudgets(start)
	first := b.Spend(start, &verified, atOnce(1))
	nested := verified
	nested.HeldSlot = first.Slot
	if p := b.Spend(start, &nested, atOnce(1)); p.Over || p.Slot != nil {
		t.Errorf("%+v", p)
	}
	if n := first.Slot.inUse.Load(); n != 1 {
		t.Errorf("%d places are taken, want 1", n)
	}
}

// TestPlacesTogether has many ask at once: never more than so many hold a place, and
// all are given back.
func TestPlacesTogether(t *testing.T) {
	const most = 4
	b, rules := NewBudgets(start), atOnce(most)
	var under, peak, entered atomic.Int64
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for range 500 {
				p := b.Spend(start, verified.from(g), rules)
				if p.Slot == nil {
					continue
				}
				entered.Add(1)
				n := under.Add(1)
				for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
				}
				under.Add(-1)
				p.Slot.Release()
			}
		})
	}
	wg.Wait()
	if peak.Load() > most || entered.Load() == 0 {
		t.Errorf("%d were under way at once, of %d that entered", peak.Load(), entered.Load())
	}
	if p := b.Spend(start, &verified, rules); p.OverConcurrent || p.Slot.inUse.Load() != 1 {
		t.Errorf("places were lost: %+v", p)
	}
}

// TestPlacesAreKept invents many names while requests are under way: their places are
// not forgotten, and there are no more of them than budgets.
func TestPlacesAreKept(t *testing.T) {
	b, rules := NewBudgets(start), atOnce(1)
	b.Spend(start, &verified, rules)
	b.Spend(start, &claimed, rules)
	for i := range 50_000 {
		at := start.Add(time.Duration(i) * time.Second)
		for _, identity := range []verify.State{verify.Verified, verify.Claimed} {
			p := b.Spend(at, Client{Site: shop, Token: fmt.Sprintf("bot%d", i), Identity: identity}.from(i), rules)
			p.Slot.Release()
		}
	}
	for _, client := range []*Client{&verified, &claimed} {
		if p := b.Spend(start.Add(time.Hour), client, rules); !p.OverConcurrent {
			t.Errorf("%s: the place of a request under way is forgotten: %+v", client.Identity, p)
		}
	}
	if n, most := b.Len(), 2*maxCrawlers+maxNetworks+3*maxUnknown; n > most {
		t.Errorf("%d budgets, want at most %d", n, most)
	}
}

// TestPlacesThatWerePutOut has the places of all that claim a name put out while requests hold
// some: those that come back are nobody else's, so that no more than the limit find one.
func TestPlacesThatWerePutOut(t *testing.T) {
	var network, before, all Concurrency
	for _, of := range []*Concurrency{&before, &before, &all} {
		if !network.acquireBoth(of, 8) {
			t.Fatal("there is no place")
		}
	}
	for range 3 {
		network.Release()
	}
	for range 8 {
		if !all.acquire(8) {
			t.Fatal("there are less than 8 places")
		}
	}
	if all.acquire(8) {
		t.Error("there are more than 8 places")
	}
}
