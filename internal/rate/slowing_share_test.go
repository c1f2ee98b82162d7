package rate

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestOneInTwentyPerDay sends requests of search engines at random rates. In the 24 hours before
// each slowed request, at most one in twenty requests was slowed.
func TestOneInTwentyPerDay(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 9))
		var s searchSlowing
		var requests, slowed []time.Duration
		since := func(times []time.Duration, from time.Duration) (n int) {
			for _, at := range times {
				if at > from {
					n++
				}
			}
			return n
		}
		now, over, mean := time.Hour, false, time.Minute
		for i := 0; now < 200*time.Hour; i++ {
			if i%(1+random.IntN(2000)) == 0 {
				over, mean = random.IntN(2) == 0, time.Duration(1+random.Int64N(int64(10*time.Minute)))
			}
			now += time.Duration(random.Int64N(int64(mean)))
			slow, _ := s.shouldSlow(now, over)
			if requests = append(requests, now); !slow {
				continue
			}
			slowed = append(slowed, now)
			if n, total := since(slowed, now-24*time.Hour), since(requests, now-24*time.Hour); n*20 > total {
				t.Fatalf("seed %d after %v: %d of %d requests slowed", seed, now, n, total)
			}
		}
		if len(slowed) == 0 && len(requests) > 1000 {
			t.Errorf("seed %d: none of %d requests was slowed", seed, len(requests))
		}
	}
}
