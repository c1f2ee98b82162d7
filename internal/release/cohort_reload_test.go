package release

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestCohortOverAReload reloads the configuration while the storage does not answer: the
// guard knows all the time which operators are served a change, or were in the last day.
func TestCohortOverAReload(t *testing.T) {
	for name, ends := range map[string]bool{"that is served to some": false, "that was": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				i := newInstance(t, storage, "one")
				i.trials = &trials{texts: make(map[string]string)}
				i.load(disallow("GPTBot", "/a"))
				i.rollout = publication.Rollout{Stage: publication.Crawlers, Percent: 50}
				i.load(disallow("GPTBot", "/b"))
				if ends {
					if err := acts(i, "rollback"); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if n := len(i.trials.ofSome()); n != 1 {
					t.Fatalf("the guard knows of %d changes", n)
				}
				storage.Break(errors.New("no network"))
				i.load(disallow("GPTBot", "/c"))
				if some := i.trials.ofSome(); len(some) != 1 || some[0].Ended.IsZero() == ends {
					t.Errorf("once the configuration before has ended the guard knows of %+v", some)
				}
				i.end()
				if n := len(i.trials.ofSome()); n != 0 {
					t.Errorf("at the end it knows of %d changes", n)
				}
			})
		})
	}
}
