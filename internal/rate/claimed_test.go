package rate

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestLimitOfWhoReadsNoDelay holds all who claim a name together to a limit, also where each
// network asks faster than a Crawl-delay that the crawler's operator does not read.
func TestLimitOfWhoReadsNoDelay(t *testing.T) {
	for _, delay := range []time.Duration{0, 10 * time.Second} {
		b, rules := NewBudgets(start), asking(delay)
		rules.Configured, rules.Advisory, rules.Mode = Rule{Interval: time.Second, Burst: 10}, true, Enforce
		passed, over := 0, 0
		for at := start; at.Before(start.Add(10 * time.Minute)); at = at.Add(time.Second) {
			for n := range 10 {
				p := b.Spend(at, claimed.from(n), rules)
				if !p.Slowed {
					passed++
				}
				if p.Over {
					over++
				}
			}
		}
		if passed > 600+10 {
			t.Errorf("%d requests passed in ten minutes by a limit of one a second, beside a delay of %v", passed, delay)
		}
		if over < 6000-610 {
			t.Errorf("%d were one too many, beside a delay of %v", over, delay)
		}
	}
}

// TestWhatIsSlowedSpendsNothing answers 429 to a network because of others that claim the name:
// it has spent nothing of its own, so that it gets its page when it was told to come again.
func TestWhatIsSlowedSpendsNothing(t *testing.T) {
	b, rules := NewBudgets(start), &Rules{Configured: Rule{Interval: 10 * time.Second, Burst: 1}, Window: 5 * time.Minute, Mode: Enforce}
	b.Spend(start, claimed.from(2), rules)
	if p := b.Spend(start.Add(time.Second), claimed.from(1), rules); p.Wait != 9*time.Second {
		t.Fatalf("%+v", p)
	}
	if p := b.Spend(start.Add(10*time.Second), claimed.from(1), rules); p.Over {
		t.Errorf("it has waited for as long as it was told to: %+v", p)
	}
}

// TestModelOfClaims holds what networks that claim a name spend together to the model of
// [TestModel]: of a network and of all one each, of which a request takes only where both have room.
// Of those that are one too many by all, these count no more than the network might ask alone.
func TestModelOfClaims(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 5))
		rules := Rules{Tolerance: 1 + random.Float64(), Window: time.Duration(1+random.IntN(10)) * time.Minute, Advisory: random.IntN(2) == 0}
		if random.IntN(4) > 0 {
			rules.CrawlDelay = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(12)}
		}
		if random.IntN(4) > 0 {
			rules.Configured = Rule{Interval: time.Duration(1 + random.Int64N(int64(20*time.Second))), Burst: 1 + random.IntN(5)}
		}
		b, networks, all, now := NewBudgets(start), make([]model, 1+random.IntN(4)), model{}, time.Duration(0)
		refused := make([]time.Duration, len(networks)) // when the next one were due of those that all refuse
		mean := max(rules.CrawlDelay.Interval, rules.Configured.Interval, time.Second)
		for i := range 400 {
			n := random.IntN(len(networks))
			own, before := &networks[n], networks[n]
			want := own.spend(now, &rules)
			if !want.isStopped(&rules) {
				byAll := all.spend(now, &rules)
				if want.Over = want.Over || byAll.Over; byAll.isStopped(&rules) {
					own.file, own.owner = before.file, before.owner
					if interval := max(rules.CrawlDelay.Interval, rules.Configured.Interval); refused[n]-now <= time.Duration(max(rules.CrawlDelay.Burst, rules.Configured.Burst)-1)*interval {
						refused[n] = max(refused[n], now) + interval
					} else if rules.CrawlDelay.Interval > 0 {
						all.asked = all.asked[:len(all.asked)-1]
					}
				}
				want.OverLimit = byAll.OverLimit
			}
			if got := b.Spend(start.Add(now), claimed.from(n), &rules); got.Over != want.Over || got.OverLimit != want.OverLimit {
				t.Fatalf("seed %d, request %d at %v from %d by %+v: %+v, want %+v", seed, i, now, n, rules, got, want)
			}
			now += time.Duration(random.Int64N(int64(mean)) * random.Int64N(3) / 2)
		}
	}
}
