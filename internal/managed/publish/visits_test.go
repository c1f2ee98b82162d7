package publish

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestRulesAwaitStoredVisits compares rules after a restart with the stored visits if the storage
// answers within ten seconds.
func TestRulesAwaitStoredVisits(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration
		waits bool
	}{"soon": {5 * time.Second, true}, "late": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				i := newInstance(t, storage, "one")
				i.load(disallow("GPTBot", "/a"))
				i.end()
				i = newInstance(t, storage, "one")
				stored := make(chan struct{})
				i.visited = stored
				i.visits.Store(new([]ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/b/1"}}))
				i.load(disallow("*", "/b"))
				time.Sleep(test.after)
				close(stored)
				time.Sleep(readInterval)
				synctest.Wait()
				if state, _ := i.History(); (state.Pending != nil) != test.waits {
					t.Errorf("it waits: %t, want %t", state.Pending != nil, test.waits)
				}
			})
		})
	}
}
