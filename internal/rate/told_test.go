package rate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestRequestAfterWaitPasses sends requests with random rules from several networks. A slowed
// request that is repeated after Wait passes, if no other request comes first.
func TestRequestAfterWaitPasses(t *testing.T) {
	repeated := 0
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 4))
		rules := Rules{Tolerance: 1 + random.Float64(), Window: time.Duration(1+random.IntN(10)) * time.Minute, Mode: Enforce}
		if random.IntN(3) > 0 {
			rules.CrawlDelay = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(12)}
		}
		if random.IntN(3) > 0 {
			rules.ConfiguredLimit = Rule{Interval: time.Duration(1 + random.Int64N(int64(40*time.Second))), Burst: 1 + random.IntN(5)}
		}
		rules.IgnoresCrawlDelay = random.IntN(3) == 0
		client := Client{Site: shop, Token: "bingbot", Identity: verify.State(random.IntN(4)), IsSharedSoftware: random.IntN(5) == 0}
		b, at, mean := NewBudgets(start), start, max(rules.CrawlDelay.Interval, rules.ConfiguredLimit.Interval, time.Second)
		networks := 1 + random.IntN(3)
		for i := range 300 {
			from := random.IntN(networks)
			p := b.ChargeRequest(at, client.from(from), &rules)
			if p.MustSlow && random.IntN(2) == 0 {
				repeated++
				at = at.Add(p.Wait)
				if again := b.ChargeRequest(at, client.from(from), &rules); again.MustSlow {
					t.Fatalf("seed %d, request %d, %v by %+v: %+v and then %+v", seed, i, client.Identity, rules, p, again)
				}
			}
			if random.IntN(3) > 0 {
				at = at.Add(time.Duration(random.Int64N(int64(mean))))
			}
		}
	}
	if repeated < 10_000 {
		t.Errorf("%d requests were repeated", repeated)
	}
}
