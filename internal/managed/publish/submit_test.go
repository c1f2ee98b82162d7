package publish

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestWishThatLacksSomething submits nothing of which a part is not known yet.
func TestWishThatLacksSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.load(disallow("GPTBot", "/a"))
		var lacks atomic.Bool
		lacks.Store(true)
		i.Submit(schedule(t, disallow("GPTBot", "/b")), FromRules, Proposal{Lacks: lacks.Load})
		time.Sleep(10 * readInterval)
		synctest.Wait()
		i.serves("/a")
		lacks.Store(false)
		time.Sleep(readInterval)
		synctest.Wait()
		i.serves("/b")
		i.end()
	})
}
