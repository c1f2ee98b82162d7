package botauth

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFirstUseAtOnce lets one of several requests at once be the first with a nonce that was
// used before, in a signature that has expired.
func TestFirstUseAtOnce(t *testing.T) {
	a, now := newAgent("https://bot.test", "Bot"), time.Now()
	const rounds, clients = 10_000, 8
	var first [rounds]atomic.Int32
	var turn [rounds]sync.WaitGroup // so that all begin together
	var all sync.WaitGroup
	for n := range rounds {
		a.isFirstUse(parameters{keyID: "key", nonce: fmt.Sprint(n), expires: now.Unix() - 1}, now)
		turn[n].Add(clients)
	}
	for range clients {
		all.Go(func() {
			for n := range rounds {
				turn[n].Done()
				turn[n].Wait()
				if a.isFirstUse(parameters{keyID: "key", nonce: fmt.Sprint(n), expires: now.Unix() + 60}, now) {
					first[n].Add(1)
				}
			}
		})
	}
	all.Wait()
	for n := range first {
		if got := first[n].Load(); got != 1 {
			t.Errorf("%d were the first with nonce %d", got, n)
		}
	}
}
