package guard

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// TestWaitsForNoStorageTwice loads a configuration slowly. The running configuration
// has already loaded the stored data, so its requests must not wait for it again.
func TestWaitsForNoStorageTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, options{})
		o.turns(file(strict))
		o.keeps(t, true)()
		synctest.Wait()
		o.delay = 10 * time.Millisecond
		restored := o.g.state.Memory.AnnounceStore(t.Context()) // by the next configuration
		start := time.Now()
		j := o.g.Judge(requestBy("bingbot/2.0", "/x"))
		if waited := time.Since(start); waited != o.delay || j.Verdict != judge.Disallowed {
			t.Errorf("waited %v, %s; want %v, %s", waited, j.Verdict, o.delay, judge.Disallowed)
		}
		restored()
		time.Sleep(time.Minute) // let all background work end
	})
}
