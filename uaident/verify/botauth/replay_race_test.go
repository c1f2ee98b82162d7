package botauth

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFirstUseAtOnce sends concurrent requests with one nonce. The nonce was used before, in an
// expired signature. Exactly one request is Valid.
func TestFirstUseAtOnce(t *testing.T) {
	a, now := newSigningAgent("https://bot.test", "Bot"), time.Now()
	const rounds, clients = 10_000, 8
	var first [rounds]atomic.Int32
	var turn [rounds]sync.WaitGroup // starts all goroutines of a round together
	var group sync.WaitGroup
	for n := range rounds {
		a.isFirstUse(signatureParameters{keyID: "key", nonce: fmt.Sprint(n), expires: now.Unix() - 1}, now)
		turn[n].Add(clients)
	}
	for range clients {
		group.Go(func() {
			for n := range rounds {
				turn[n].Done()
				turn[n].Wait()
				if a.isFirstUse(signatureParameters{keyID: "key", nonce: fmt.Sprint(n), expires: now.Unix() + 60}, now) {
					first[n].Add(1)
				}
			}
		})
	}
	group.Wait()
	for n := range first {
		if got := first[n].Load(); got != 1 {
			t.Errorf("%d requests with nonce %d were valid, want 1", got, n)
		}
	}
}
