package rate

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestOneInTwentyOfADay has search engines ask by chance, a lot and then little, and remembers
// when: of the requests in the 24 hours before each that is slowed no more than one in twenty is.
func TestOneInTwentyOfADay(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 9))
		var s searchSlowing
		var asked, slowed []time.Duration
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
			if asked = append(asked, now); !slow {
				continue
			}
			slowed = append(slowed, now)
			if n, of := since(slowed, now-24*time.Hour), since(asked, now-24*time.Hour); n*20 > of {
				t.Fatalf("seed %d after %v: %d of %d", seed, now, n, of)
			}
		}
		if len(slowed) == 0 && len(asked) > 1000 {
			t.Errorf("seed %d: none of %d was slowed", seed, len(asked))
		}
	}
}
