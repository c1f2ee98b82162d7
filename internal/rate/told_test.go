package rate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestWhoWaitsAsToldPasses has clients ask under random rules, from several networks. Whoever is
// one too many comes again when it was told to: that is none too many, if nobody else has
// asked meanwhile.
func TestWhoWaitsAsToldPasses(t *testing.T) {
	told := 0
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 4))
		rules := Rules{Tolerance: 1 + random.Float64(), Window: time.Duration(1+random.IntN(10)) * time.Minute, Mode: Enforce}
		if random.IntN(3) > 0 {
			rules.CrawlDelay = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(12)}
		}
		if random.IntN(3) > 0 {
			rules.Configured = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(5)}
		}
		rules.Advisory = random.IntN(3) == 0
		who := Client{Site: shop, Token: "bingbot", Identity: verify.State(random.IntN(4)), RunByMany: random.IntN(5) == 0}
		b, at, mean := NewBudgets(start), start, max(rules.CrawlDelay.Interval, rules.Configured.Interval, time.Second)
		networks := 1 + random.IntN(3)
		for i := range 300 {
			from := random.IntN(networks)
			p := b.Spend(at, who.from(from), &rules)
			if p.Slowed && random.IntN(2) == 0 {
				told++
				at = at.Add(p.Wait)
				if again := b.Spend(at, who.from(from), &rules); again.Slowed {
					t.Fatalf("seed %d, request %d, %v by %+v: %+v and then %+v", seed, i, who.Identity, rules, p, again)
				}
			}
			if random.IntN(3) > 0 {
				at = at.Add(time.Duration(random.Int64N(int64(mean))))
			}
		}
	}
	if told < 10_000 {
		t.Errorf("%d were told to wait", told)
	}
}
