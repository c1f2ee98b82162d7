package publish

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestStorageDownAfterARestart serves the stored published change after the storage fails, although
// the process submitted nothing.
func TestStorageDownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		i := newInstance(t, storage, "first")
		i.load(disallow("GPTBot", "/a"))
		i.end()
		i = newInstance(t, storage, "first")
		i.load(disallow("GPTBot", "/a"))
		storage.SetErr(errors.New("no network"))
		i.load(disallow("GPTBot", "/b"))
		i.serves("/a")
		storage.SetErr(nil)
		time.Sleep(readInterval)
		i.serves("/b")
	})
}

// TestRulesAwaitStoredBases compares rules with the stored bases if the storage answers within two
// seconds.
func TestRulesAwaitStoredBases(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration // until the bases are read
		waits bool
	}{
		"soon":     {after: time.Second},
		"too late": {after: 13 * time.Second, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage, own := storetest.New(), newText(open)
				one := newInstance(t, storage, "one").with(own)
				one.load(opensToAll)
				one.read()
				two := newInstance(t, storage, "two").with(own)
				stored := make(chan struct{})
				two.stored = stored
				time.AfterFunc(test.after, func() {
					for _, e := range one.bases.Entries() {
						two.bases.Restore(e.Key(), e.Segment(), *e.State(), true)
					}
					close(stored)
				})
				two.load(disallow("GPTBot", "/a"))
				time.Sleep(readInterval)
				synctest.Wait()
				if state, _ := two.History(); (state.Pending != nil) != test.waits {
					t.Errorf("it waits: %t, want %t: %+v", state.Pending != nil, test.waits, state.Pending)
				}
			})
		})
	}
}
