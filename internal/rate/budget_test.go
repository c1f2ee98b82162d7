package rate

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// model is a budget as in the documents. It remembers all requests.
type model struct {
	times       []time.Duration // times of all requests
	file, owner time.Duration   // due time of the next request if all requests had the mean interval
}

func (m *model) spend(now time.Duration, r *Rules) (p Pace) {
	wait := func(due time.Duration, rule Rule) time.Duration {
		if rule.Interval == 0 {
			return 0
		}
		return max(0, due-now-time.Duration(rule.Burst-1)*rule.Interval)
	}
	file, owner, tooFast := wait(m.file, r.CrawlDelay), wait(m.owner, r.ConfiguredLimit), false
	if r.CrawlDelay.Interval > 0 {
		m.times = append(m.times, now)
		part := r.Window / windowParts
		for _, at := range m.times {
			if file > 0 && now/part-at/part < windowParts {
				p.Requests++
			}
		}
		tooFast = float64(p.Requests) > r.Tolerance*float64(r.Window)/float64(r.CrawlDelay.Interval) && p.Requests > r.CrawlDelay.Burst
	}
	byFile := tooFast && file > 0
	p.IsOverLimit = owner > 0 && (!byFile || r.IgnoresCrawlDelay || owner > file)
	switch {
	case p.IsOverLimit:
		p.Wait = owner
	case byFile:
		p.Wait = file
	}
	if p.IsOverRate = p.IsOverLimit || byFile; p.IsOverRate && !r.IgnoresCrawlDelay {
		seen := 1 // the next request
		for _, at := range m.times {
			if part := r.Window / windowParts; now/part-at/part < windowParts {
				seen++
			}
		}
		if float64(seen) > r.Tolerance*float64(r.Window)/float64(r.CrawlDelay.Interval) && seen > r.CrawlDelay.Burst {
			p.Wait = max(p.Wait, file)
		}
	}
	if owner == 0 && file == 0 { // only a request that passes is charged
		m.file = max(m.file, now) + r.CrawlDelay.Interval
	}
	if owner == 0 && (!byFile || r.IgnoresCrawlDelay) {
		m.owner = max(m.owner, now) + r.ConfiguredLimit.Interval
	}
	return p
}

// TestBudgetAgainstModel compares budgets with the model, with random rules and requests.
func TestBudgetAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		rules := Rules{Tolerance: 1 + random.Float64(), Window: time.Duration(1+random.IntN(10)) * time.Minute}
		if random.IntN(4) > 0 {
			rules.CrawlDelay = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(12)}
		}
		if random.IntN(2) > 0 {
			rules.ConfiguredLimit = Rule{Interval: time.Duration(1 + random.Int64N(int64(20*time.Second))), Burst: 1 + random.IntN(5)}
		}
		rules.IgnoresCrawlDelay = random.IntN(3) == 0
		var b budget
		var m model
		now := time.Duration(random.Int64N(int64(time.Hour)))
		mean := max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval, time.Second)
		for i := range 400 {
			got := Pace{Requests: 7, Wait: 7, IsOverRate: true, IsOverLimit: true} // values of a previous request
			b.chargeRequest(&got, now, &rules, false, false)
			want := m.spend(now, &rules)
			if got != want {
				t.Fatalf("seed %d, request %d at %v by %+v: %+v, want %+v", seed, i, now, rules, got, want)
			}
			switch random.IntN(20) {
			case 0:
				now += time.Duration(random.Int64N(int64(20 * mean)))
			case 1:
			default:
				now += time.Duration(random.Int64N(int64(mean)))
			}
		}
	}
}

// TestChangedWindow changes the length of the window, as a reload can. Counts of the previous
// window are ignored, and no request is lost.
func TestChangedWindow(t *testing.T) {
	var w requestWindow
	now := 100 * time.Hour
	add := func(now, length time.Duration) int { return w.sumUntilPart(w.addRequest(now, length)) }
	for range 50 {
		add(now, 5*time.Minute)
	}
	for _, length := range []time.Duration{time.Minute, time.Hour, 5 * time.Second} {
		if n := add(now, length); n > 1 {
			t.Errorf("%v: %d", length, n)
		}
		if n := add(now, length); n != 2 {
			t.Errorf("%v: %d, want 2", length, n)
		}
	}
	if n := add(now-5*time.Second, 5*time.Second); n > 2 {
		t.Errorf("a late request: %d", n)
	}
}

// TestConcurrentSpend calls Charge in many goroutines. No request is lost, and no more requests pass
// than allowed.
func TestConcurrentSpend(t *testing.T) {
	b, passed := NewBudgets(start), atomic.Int64{}
	rules := delayRules(10 * time.Second)
	rules.ConfiguredLimit = Rule{Interval: time.Hour, Burst: 100}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 1000 {
				if !b.ChargeRequest(start, verified.from(i), rules).IsOverRate {
					passed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if p := b.ChargeRequest(start, &verified, rules); p.Requests != 8001 || passed.Load() > 100 || passed.Load() < 10 {
		t.Errorf("%d counted, %d passed", p.Requests, passed.Load())
	}
}

func TestSpendDoesNotAllocate(t *testing.T) {
	b, rules, few := NewBudgets(start), delayRules(10*time.Second), concurrentRules(4)
	for _, client := range []*Client{&verified, claimed.from(1), {Site: shop}} {
		b.ChargeRequest(start, client, rules)
		if n := testing.AllocsPerRun(100, func() { b.ChargeRequest(start, client, rules) }); n > 0 {
			t.Errorf("%+v: %v allocations", client, n)
		}
		if n := testing.AllocsPerRun(100, func() { b.ChargeRequest(start, client, few) }); n > 0 {
			t.Errorf("%+v: %v allocations for a slot", client, n)
		}
	}
}

func BenchmarkSpend(b *testing.B) {
	at := time.Now() // with a monotonic reading, as in the server; without one Sub takes five times as long
	for _, bench := range []struct {
		name   string
		client *Client
		rules  *Rules
	}{
		{"verified", &verified, delayRules(time.Millisecond)},
		{"verified, too fast", &verified, delayRules(10 * time.Second)},
		{"claimed", claimed.from(1), delayRules(time.Millisecond)},
		{"unknown", &Client{Site: shop, Network: network(1)}, delayRules(time.Millisecond)},
		{"limit", &verified, &Rules{ConfiguredLimit: Rule{Interval: time.Millisecond, Burst: 10}}},
		{"limit and concurrent", &verified, &Rules{ConfiguredLimit: Rule{Interval: time.Millisecond, Burst: 10}, Concurrent: 4}},
		{"no rules", &verified, new(Rules)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			budgets := NewBudgets(at)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if p := budgets.ChargeRequest(at.Add(time.Duration(i)*time.Millisecond), bench.client, bench.rules); p.Slot != nil {
					p.Slot.ReleaseSlot()
				}
			}
		})
	}
}
