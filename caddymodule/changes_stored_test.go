package caddymodule

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestARestoredHoldIsLifted has a sibling that has not heard yet of the file
// which allows everything again.
func TestARestoredHoldIsLifted(t *testing.T) {
	i := newInstance(newMemory(), "first", noon).guards(t)
	for _, text := range []string{open, shut, "User-agent: *\nDisallow: /b\n"} {
		i.learn(siteA, policy.Named, text)
		i.time = i.time.Add(time.Minute)
	}
	standing := i.state.cache.Get(siteA).Standing()
	good, first := standing.Good, standing.Past[1]
	visit := ledger.Visit{Crawler: "Googlebot", Chain: []string{"Googlebot"}, Wildcard: true, Host: "a.test", Target: "/a", At: noon}
	c := &i.state.changes
	c.restore(ledger.Changes{Site: siteA, Hash: good.Hash, Read: good.FirstRead}, standing, true)
	stale := ledger.Changes{Site: siteA, Hash: standing.Past[0].Hash, Read: standing.Past[0].FirstRead,
		Holds: []ledger.Hold{{Version: first.Hash, Since: first.Until, Until: noon.Add(heldFor), Visits: []ledger.Visit{visit}}}}
	if held, complete := c.restore(stale, standing, true); held != 1 || !complete {
		t.Fatalf("%d holds, complete: %t", held, complete)
	}
	if holds, news := c.look(site{key: siteA}, standing, heldFor, false); len(holds) != 0 || len(news.lifted) != 1 {
		t.Errorf("%d holds, %d lifted", len(holds), len(news.lifted))
	}
}

// TestHoldsThatCannotBeRestored waits for a version, but not for what is over.
func TestHoldsThatCannotBeRestored(t *testing.T) {
	i := newInstance(newMemory(), "first", noon).guards(t)
	i.learn(siteA, policy.Named, open)
	current := i.state.cache.Get(siteA).Standing().Good
	for name, tc := range map[string]struct {
		hold     ledger.Hold
		complete bool
	}{
		"of the current version": {ledger.Hold{Version: current.Hash, Since: noon, Until: noon.Add(time.Hour)}, false},
		"of an unknown version":  {ledger.Hold{Version: [32]byte{1}, Since: noon, Until: noon.Add(time.Hour)}, false},
		"that is over":           {ledger.Hold{Version: [32]byte{1}, Since: noon.Add(-time.Hour), Until: noon}, true},
		"of the future":          {ledger.Hold{Version: [32]byte{1}, Since: noon.Add(time.Hour), Until: noon.Add(2 * time.Hour)}, true},
	} {
		changes := ledger.Changes{Site: siteA, Hash: current.Hash, Read: noon, Holds: []ledger.Hold{tc.hold}}
		if held, complete := i.restoreChanges(changes, true); held != 0 || complete != tc.complete {
			t.Errorf("a hold %s: %d holds, complete: %t", name, held, complete)
		}
	}
	if len(i.heldUntil(siteA)) != 0 {
		t.Error("something is held back")
	}
}
