package redis

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRatesTogether sends a crawler's requests to two and three instances in turn, at
// ten times its limit. Once the instances have exchanged their counts and seen more
// requests than the limit allows in a window, they together allow as many requests as
// one instance.
func TestRatesTogether(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 3; n++ {
		t.Run(fmt.Sprintf("%d instances", n), func(t *testing.T) {
			t.Parallel()
			port := harness.FreePort(t)
			startRedis(t, port)
			o, _ := harness.NewChangingOrigin(t, closed)
			var instances []*instance
			for range n {
				instances = append(instances, start(t, port, o.Address(), t.TempDir()))
			}
			ask := func(long time.Duration) float64 { // returns the requests per second within the limit
				within := 0
				tick := time.NewTicker(20 * time.Millisecond)
				defer tick.Stop()
				began := time.Now()
				for turn := 0; time.Since(began) < long; turn++ {
					from := harness.Header("X-Forwarded-For", fmt.Sprintf("198.18.%d.1", turn%250)) // different networks, so that no network exceeds its limit
					a := harness.Get(t, "http://127.0.0.1:"+instances[turn%n].port+"/page", harness.Bingbot, harness.Host("a.test"), from)
					if a.Header.Get("X-Rate") == "within" {
						within++
					}
					<-tick.C
				}
				return float64(within) / time.Since(began).Seconds()
			}
			if alone := ask(5 * time.Second); alone < 3.5*float64(n) || alone > 6*float64(n) {
				t.Errorf("%.1f requests per second are within a limit of 5 before the instances exchange counts, want %d", alone, 5*n)
			}
			deadline := time.Now().Add(2 * time.Minute)
			together := 0.0
			for time.Now().Before(deadline) {
				if together = ask(10 * time.Second); together < 6 {
					break
				}
			}
			t.Logf("%.2f requests per second are within a limit of 5", together)
			if together < 4 || together > 6 {
				t.Errorf("%.1f requests per second are within a limit of 5, want 4 to 6", together)
			}
		})
	}
}
