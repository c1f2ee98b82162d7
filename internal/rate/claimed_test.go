package rate

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestLimitOfClaimedName checks that all clients with a claimed name together stay within a limit.
// Each network also exceeds a Crawl-delay that the operator ignores.
func TestLimitOfClaimedName(t *testing.T) {
	for _, delay := range []time.Duration{0, 10 * time.Second} {
		b, rules := NewBudgets(start), delayRules(delay)
		rules.ConfiguredLimit, rules.IgnoresCrawlDelay, rules.Mode = Rule{Interval: time.Second, Burst: 10}, true, Enforce
		passed, over := 0, 0
		for at := start; at.Before(start.Add(10 * time.Minute)); at = at.Add(time.Second) {
			for n := range 10 {
				p := b.ChargeRequest(at, claimed.from(n), rules)
				if !p.MustSlow {
					passed++
				}
				if p.IsOverRate {
					over++
				}
			}
		}
		if passed > 600+10 {
			t.Errorf("%d requests passed in ten minutes with a limit of one a second and a delay of %v", passed, delay)
		}
		if over < 6000-610 {
			t.Errorf("%d requests were over the rate with a delay of %v", over, delay)
		}
	}
}

// TestSlowedRequestIsNotCharged slows a network because of other networks with the same claimed
// name. Its own budget is not charged, so its request after Wait passes.
func TestSlowedRequestIsNotCharged(t *testing.T) {
	b, rules := NewBudgets(start), &Rules{ConfiguredLimit: Rule{Interval: 10 * time.Second, Burst: 1}, Window: 5 * time.Minute, Mode: Enforce}
	b.ChargeRequest(start, claimed.from(2), rules)
	if p := b.ChargeRequest(start.Add(time.Second), claimed.from(1), rules); p.Wait != 9*time.Second {
		t.Fatalf("%+v", p)
	}
	if p := b.ChargeRequest(start.Add(10*time.Second), claimed.from(1), rules); p.IsOverRate {
		t.Errorf("the request after the wait is over the rate: %+v", p)
	}
}

// TestClaimedNamesAgainstModel compares the requests of networks with a claimed name with the model
// of [TestBudgetAgainstModel]. A request passes only if the budget of its network and the budget of
// the name have room. Requests over the shared budget count only as far as their network's own rate
// allows.
func TestClaimedNamesAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 5))
		rules := Rules{Tolerance: 1 + random.Float64(), Window: time.Duration(1+random.IntN(10)) * time.Minute, IgnoresCrawlDelay: random.IntN(2) == 0}
		if random.IntN(4) > 0 {
			rules.CrawlDelay = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(12)}
		}
		if random.IntN(4) > 0 {
			rules.ConfiguredLimit = Rule{Interval: time.Duration(1 + random.Int64N(int64(20*time.Second))), Burst: 1 + random.IntN(5)}
		}
		b, networks, shared, now := NewBudgets(start), make([]model, 1+random.IntN(4)), model{}, time.Duration(0)
		refused := make([]time.Duration, len(networks)) // due time of the next request of each network, among requests over the shared budget
		mean := max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval, time.Second)
		for i := range 400 {
			n := random.IntN(len(networks))
			own, before := &networks[n], networks[n]
			want := own.spend(now, &rules)
			if !want.exceedsEnforcedRate(&rules) {
				byName := shared.spend(now, &rules)
				if want.IsOverRate = want.IsOverRate || byName.IsOverRate; byName.exceedsEnforcedRate(&rules) {
					own.file, own.owner = before.file, before.owner
					if interval := max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval); refused[n]-now <= time.Duration(max(rules.CrawlDelay.Burst, rules.ConfiguredLimit.Burst)-1)*interval {
						refused[n] = max(refused[n], now) + interval
					} else if rules.CrawlDelay.Interval > 0 {
						shared.times = shared.times[:len(shared.times)-1]
					}
				}
				want.IsOverLimit = byName.IsOverLimit
			}
			if got := b.ChargeRequest(start.Add(now), claimed.from(n), &rules); got.IsOverRate != want.IsOverRate || got.IsOverLimit != want.IsOverLimit {
				t.Fatalf("seed %d, request %d at %v from %d by %+v: %+v, want %+v", seed, i, now, n, rules, got, want)
			}
			now += time.Duration(random.Int64N(int64(mean)) * random.Int64N(3) / 2)
		}
	}
}
