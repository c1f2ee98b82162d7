package publish

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestRolledBackByTwo rolls back one step if two people roll back at two instances.
func TestRolledBackByTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
		for _, path := range []string{"/a", "/b", "/c"} {
			one.load(disallow("GPTBot", path))
		}
		two.load(disallow("GPTBot", "/c"))
		if err := acts(one, "rollback"); err != nil {
			t.Fatal(err)
		}
		if err := acts(two, "rollback"); !errors.Is(err, ErrOther) {
			t.Errorf("the second ends with %v", err)
		}
		one.serves("/b")
		if err := acts(two, "rollback"); err != nil {
			t.Errorf("once more: %v", err)
		}
		two.serves("/a")
	})
}

// TestRollsBackWhatWasShown rolls back without an ID after another instance has changed the history.
// The rollback fails if its change is not the one that this instance has shown.
func TestRollsBackWhatWasShown(t *testing.T) {
	some := Rollout{State: Canary, Hosts: []string{"b.test"}}
	for name, tc := range map[string]struct {
		tried  bool // the second instance shows a trial
		then   func(one *instance)
		serves []string
		isMine bool
	}{
		"a trial that was taken back": {tried: true, serves: []string{"/a"}, then: func(one *instance) { _ = acts(one, "rollback") }},
		"a trial that was ended":      {tried: true, serves: []string{"/a"}, then: func(one *instance) { _ = acts(one, "stop") }},
		"a trial that is published":   {tried: true, serves: []string{"/a"}, then: func(one *instance) { _ = acts(one, "promote") }, isMine: true},
		"another is published":        {serves: []string{"/c"}, then: func(one *instance) { one.load(disallow("GPTBot", "/c")) }},
		"another is tried":            {serves: []string{"/b"}, then: func(one *instance) { one.rollout = some; one.load(disallow("GPTBot", "/c")) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
				one.load(disallow("GPTBot", "/a"))
				if tc.tried {
					one.rollout, two.rollout = some, some
				}
				one.load(disallow("GPTBot", "/b"))
				two.load(disallow("GPTBot", "/b"))
				tc.then(one)
				before, _ := one.History()
				err := acts(two, "rollback")
				if tc.isMine != (err == nil) || err != nil && !errors.Is(err, ErrOther) {
					t.Errorf("it ends with %v", err)
				}
				if after, _ := two.History(); !tc.isMine && (after.Revision != before.Revision || after.PublishedID() != before.PublishedID()) {
					t.Errorf("it is %+v, and was %+v", after, before)
				}
				time.Sleep(readInterval)
				synctest.Wait()
				one.serves(tc.serves...)
				two.serves(tc.serves...)
				if err := acts(two, "rollback"); err != nil {
					t.Errorf("once more: %v", err)
				}
			})
		})
	}
}
