package rulelist

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// What is wrong leaves what was good in place; the owner is told once, and when it is
// over.
func TestLastGoodVersionStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := read(t, remotetest.NewStorage(), list("a", "b"), nil)
		defer r.end()
		r.has(t, "a b")
		r.source.Say(list("a", "b", "c"), nil)
		next(5 * time.Minute)
		r.has(t, "a b c")
		r.told(t)
		r.source.Say("", errDown)
		next(3 * time.Hour)
		r.has(t, "a b c")
		r.told(t, "a list of rules cannot be read; what it said before stays in force")
		r.source.Say("<html>", nil)
		next(time.Hour)
		r.told(t, "a list of rules cannot be used; what it said before stays in force")
		r.has(t, "a b c")
		r.source.Say(list("a", "b", "d"), nil)
		next(time.Hour)
		r.has(t, "a b d")
		r.told(t, "a list of rules can be used again")
		if r.changed != 3 || r.failed < 5 {
			t.Errorf("%d changes, %d failures", r.changed, r.failed)
		}
	})
}

// After failures it is tried again in growing intervals, up to an hour.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := read(t, remotetest.NewStorage(), "", errDown)
		defer r.end()
		r.told(t, "a list of rules cannot be read; there is none from before")
		next(5 * time.Minute)
		soon := r.source.Reads()
		if soon < 5 || soon > 9 {
			t.Errorf("%d attempts in 5 minutes", soon)
		}
		next(100 * time.Hour)
		if n := r.source.Reads() - soon; n < 99 || n > 120 {
			t.Errorf("%d attempts in 100 hours", n)
		}
		r.source.Say(list("a"), nil)
		next(time.Hour)
		r.has(t, "a")
		r.told(t, "a list of rules can be used again")
	})
}

// A list that has lost more than half of its rules waits until it is published all the
// same, whatever is loaded meanwhile; rules whose time is over do not count.
func TestShrunkListWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := read(t, remotetest.NewStorage(), list("a", "b", "c", "d", "old1", "old2", "old3"), nil)
		defer r.end()
		r.source.Say(list("a", "b", "c", "d"), nil)
		next(10 * time.Minute)
		r.has(t, "a b c d")
		r.source.Say(list("a", "b"), nil)
		next(10 * time.Minute)
		r.has(t, "a b")
		r.told(t)
		r.source.Say(list(), nil)
		next(time.Hour)
		r.has(t, "a b")
		r.told(t, "a list of rules waits for confirmation; what it said before stays in force")
		r.source.Say(list("a", "b", "c"), nil)
		next(10 * time.Minute)
		r.has(t, "a b c")
		r.told(t, "a list of rules can be used again")
		r.source.Say(list("x"), nil)
		next(10 * time.Minute)
		r.Load(t.Context(), 1, nil)
		r.has(t, "a b c")
		if err := r.Trouble(); err == nil || !strings.Contains(err.Error(), "managed confirm") {
			t.Errorf("trouble: %v", err)
		}
		wanted, why := r.Wanted()
		if wanted.ids() != "x" || !strings.Contains(why, "more than half of its 3 rules") {
			t.Errorf("wanted %s: %s", wanted.ids(), why)
		}
		r.source.Say(list("y"), nil)
		next(20 * time.Minute)
		r.Accept(wanted) // too late
		r.has(t, "a b c")
		if wanted, _ = r.Wanted(); wanted.ids() != "y" {
			t.Errorf("wanted %s", wanted.ids())
		}
		r.Accept(wanted)
		r.has(t, "y")
		if err := r.Trouble(); err != nil {
			t.Errorf("after the confirmation: %v", err)
		}
		if wanted, why = r.Wanted(); wanted.ids() != "y" || why != "" {
			t.Errorf("wanted %s: %s", wanted.ids(), why)
		}
	})
}

// A list that flaps between all and nothing never loses its rules, and users are told of
// little.
func TestFlappingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := read(t, remotetest.NewStorage(), list("a", "b"), nil)
		defer r.end()
		for i := range 100 {
			r.source.Say([]string{list(), list("a", "b"), "null", ""}[i%4], nil)
			next(time.Minute)
			r.has(t, "a b")
		}
		if r.changed > 1+2*mostOffers*100/10 {
			t.Errorf("%d changes", r.changed)
		}
	})
}

// The last good version outlives a restart, for a URL; one that is not yet stored, or
// is damaged, or a storage that hangs, keeps nothing from starting.
func TestStoredVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		r := read(t, storage, list("a", "b"), nil)
		next(time.Minute)
		r.end()
		if storage.Len() != 1 {
			t.Fatalf("%d values are stored", storage.Len())
		}
		again := read(t, storage, "", errDown)
		again.has(t, "a b")
		again.end()
		shrunk := read(t, storage, list(), nil)
		shrunk.has(t, "a b")
		shrunk.told(t, "a list of rules waits for confirmation")
		next(time.Hour)
		shrunk.end()
		storage.Damage(`{"list": "https://cms.test/rules", "data": "bnVsbA=="}`)
		damaged := read(t, storage, "", errDown)
		damaged.has(t, "nothing")
		damaged.told(t, "what is stored of a list of rules cannot be used", "a list of rules cannot be read; there is none from before")
		damaged.end()
		storage.Hang()
		begin := time.Now()
		slow := read(t, storage, list("c"), nil)
		slow.has(t, "c")
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("it takes %v", took)
		}
		slow.told(t, "what is stored of a list of rules cannot be used")
		slow.end()
		time.Sleep(2 * time.Hour) // the storage answers at last
	})
}

// A storage that fails is told once; what was not stored is, when it answers again.
func TestFailingStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		storage.Fail(errDown)
		r := read(t, storage, list("a"), nil)
		defer r.end()
		next(time.Hour)
		r.told(t, "a list of rules could not be stored")
		storage.Fail(nil)
		next(10 * time.Minute)
		if storage.Len() != 1 {
			t.Error("it is not stored")
		}
	})
}

// A configuration that is only validated changes nothing in the storage.
func TestValidatedListIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		r := read(t, storage, list("a"), nil)
		next(time.Second)
		r.end()
		if storage.Len() != 0 {
			t.Error("it is stored")
		}
	})
}
