package publish

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestActsWhileItsConfigurationEnds promotes a change while its configuration ends. No trial may
// start after that.
func TestActsWhileItsConfigurationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &interrupted{Storage: storetest.New()}
		i := newInstance(t, storage, "one")
		i.trials = &trials{texts: make(map[string]string)}
		i.load(disallow("GPTBot", "/a"))
		i.rollout = Rollout{State: Canary, Hosts: []string{"a.test"}}
		i.load(disallow("GPTBot", "/b"))
		if len(i.trials.tried()) == 0 {
			t.Fatal("nothing is tried")
		}
		storage.happens = i.end
		if _, err := i.ApplyAction(t.Context(), "promote", "", ann); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if tried := i.trials.tried(); len(tried) != 0 {
			t.Errorf("%v are said to be tried", tried)
		}
	})
}
