package publish

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestTrialOverAReload reloads the configuration during a trial. The trial still ends if the change
// disallows a search engine.
func TestTrialOverAReload(t *testing.T) {
	for _, stage := range []State{Shadow, Canary} {
		t.Run(string(stage), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				i := newInstance(t, storage, "one")
				i.trials = &trials{texts: make(map[string]string)}
				i.load(disallow("GPTBot", "/a"))
				i.rollout = Rollout{State: stage, Seconds: 3600, Hosts: []string{"b.test"}}
				rules := []managed.Rule{disallow("GPTBot", "/a"), disallow("bingbot", "/b")}
				i.load(rules...)
				i.visits.Store(new(requested("bingbot", "/b/1")))
				storage.SetErr(errors.New("no network")) // the next configuration begins late
				i.load(rules...)
				if len(i.trials.tried()) != 1 {
					t.Errorf("tried are %v", i.trials.tried())
				}
				storage.SetErr(nil)
				time.Sleep(time.Minute)
				synctest.Wait()
				state, _ := i.History()
				if state.Pending != nil || len(state.Past) == 0 || !state.Past[0].IsRejectedByTrial() {
					t.Errorf("candidate %+v, history %+v", state.Pending, state.Past)
				}
				i.end()
				if len(i.trials.tried()) != 0 {
					t.Errorf("at the end are tried %v", i.trials.tried())
				}
			})
		})
	}
}
