package rate

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// model is a budget as the documents describe it, with all requests remembered.
type model struct {
	asked       []time.Duration // when requests came
	file, owner time.Duration   // when the next one were due if each had come in its time
}

func (m *model) spend(now time.Duration, r *Rules) (p Pace) {
	wait := func(due time.Duration, rule Rule) time.Duration {
		if rule.Interval == 0 {
			return 0
		}
		return max(0, due-now-time.Duration(rule.Burst-1)*rule.Interval)
	}
	file, owner, tooFast := wait(m.file, r.CrawlDelay), wait(m.owner, r.Configured), false
	if r.CrawlDelay.Interval > 0 {
		m.asked = append(m.asked, now)
		part := r.Window / windowParts
		for _, at := range m.asked {
			if file > 0 && now/part-at/part < windowParts {
				p.Requests++
			}
		}
		tooFast = float64(p.Requests) > r.Tolerance*float64(r.Window)/float64(r.CrawlDelay.Interval) && p.Requests > r.CrawlDelay.Burst
	}
	byFile := tooFast && file > 0
	p.OverLimit = owner > 0 && (!byFile || r.Advisory || owner > file)
	switch {
	case p.OverLimit:
		p.Wait = owner
	case byFile:
		p.Wait = file
	}
	if p.Over = p.OverLimit || byFile; p.Over && !r.Advisory {
		seen := 1 // the next one
		for _, at := range m.asked {
			if part := r.Window / windowParts; now/part-at/part < windowParts {
				seen++
			}
		}
		if float64(seen) > r.Tolerance*float64(r.Window)/float64(r.CrawlDelay.Interval) && seen > r.CrawlDelay.Burst {
			p.Wait = max(p.Wait, file)
		}
	}
	if owner == 0 && file == 0 { // what passes takes
		m.file = max(m.file, now) + r.CrawlDelay.Interval
	}
	if owner == 0 && (!byFile || r.Advisory) {
		m.owner = max(m.owner, now) + r.Configured.Interval
	}
	return p
}

// TestModel holds budgets to the model, under random rules and requests.
func TestModel(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		rules := Rules{Tolerance: 1 + random.Float64(), Window: time.Duration(1+random.IntN(10)) * time.Minute}
		if random.IntN(4) > 0 {
			rules.CrawlDelay = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(12)}
		}
		if random.IntN(2) > 0 {
			rules.Configured = Rule{Interval: time.Duration(1 + random.Int64N(int64(20*time.Second))), Burst: 1 + random.IntN(5)}
		}
		rules.Advisory = random.IntN(3) == 0
		var b budget
		var m model
		now := time.Duration(random.Int64N(int64(time.Hour)))
		mean := max(rules.CrawlDelay.Interval, rules.Configured.Interval, time.Second)
		for i := range 400 {
			got := Pace{Requests: 7, Wait: 7, Over: true, OverLimit: true} // of another budget
			b.spend(&got, now, &rules, false, false)
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

// TestOtherWindow changes the window, as a reload may: what was counted by the other
// one counts no more, and no request is lost.
func TestOtherWindow(t *testing.T) {
	var w window
	now := 100 * time.Hour
	add := func(now, length time.Duration) int { return w.sum(w.add(now, length)) }
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
		t.Errorf("a request that comes late: %d", n)
	}
}

// TestAtOnce spends from many goroutines: no request is lost and no more pass than
// may.
func TestAtOnce(t *testing.T) {
	b, passed := NewBudgets(start), atomic.Int64{}
	rules := asking(10 * time.Second)
	rules.Configured = Rule{Interval: time.Hour, Burst: 100}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 1000 {
				if !b.Spend(start, verified.from(i), rules).Over {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if p := b.Spend(start, &verified, rules); p.Requests != 8001 || passed.Load() > 100 || passed.Load() < 10 {
		t.Errorf("%d seen, %d passed", p.Requests, passed.Load())
	}
}

func TestSpendingCostsNoAllocation(t *testing.T) {
	b, rules, few := NewBudgets(start), asking(10*time.Second), atOnce(4)
	for _, client := range []*Client{&verified, claimed.from(1), {Site: shop}} {
		b.Spend(start, client, rules)
		if n := testing.AllocsPerRun(100, func() { b.Spend(start, client, rules) }); n > 0 {
			t.Errorf("%+v: %v allocations", client, n)
		}
		if n := testing.AllocsPerRun(100, func() { b.Spend(start, client, few) }); n > 0 {
			t.Errorf("%+v: %v allocations for a place", client, n)
		}
	}
}

func BenchmarkSpend(b *testing.B) {
	at := time.Now() // as the server's: of a time without a monotonic reading Sub takes five times as long
	for _, bench := range []struct {
		name   string
		client *Client
		rules  *Rules
	}{
		{"verified", &verified, asking(time.Millisecond)},
		{"verified, too fast", &verified, asking(10 * time.Second)},
		{"claimed", claimed.from(1), asking(time.Millisecond)},
		{"unknown", &Client{Site: shop, Network: network(1)}, asking(time.Millisecond)},
		{"limit", &verified, &Rules{Configured: Rule{Interval: time.Millisecond, Burst: 10}}},
		{"limit and concurrent", &verified, &Rules{Configured: Rule{Interval: time.Millisecond, Burst: 10}, Concurrent: 4}},
		{"nothing", &verified, new(Rules)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			budgets := NewBudgets(at)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if p := budgets.Spend(at.Add(time.Duration(i)*time.Millisecond), bench.client, bench.rules); p.Slot != nil {
					p.Slot.Release()
				}
			}
		})
	}
}
