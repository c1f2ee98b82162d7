package publish

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestLostRulesAreNotPublished rolls back to changes whose rules are lost or unreadable. The rollback
// fails, because no instance could serve these rules.
func TestLostRulesAreNotPublished(t *testing.T) {
	for name, damage := range map[string]func(s *storetest.Storage, key string) error{
		"lost": func(s *storetest.Storage, key string) error { return s.Delete(t.Context(), key) },
		"damaged": func(s *storetest.Storage, key string) error {
			return s.Store(t.Context(), key, []byte("{"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				i := newInstance(t, storage, "one")
				i.load(disallow("GPTBot", "/a"))
				before, _ := i.History()
				i.load(disallow("GPTBot", "/b"))
				for _, key := range storage.Keys() {
					if strings.Contains(key, before.PublishedID()) {
						if err := damage(storage, key); err != nil {
							t.Fatal(err)
						}
					}
				}
				if _, err := i.ApplyAction(t.Context(), "rollback", "", ann); !errors.Is(err, ErrUnreadable) {
					t.Errorf("the rollback ends with %v", err)
				}
				i.serves("/b")
				i.end()
				i = newInstance(t, storage, "one")
				i.load(disallow("GPTBot", "/b"))
				i.serves("/b")
				if _, err := i.ApplyAction(t.Context(), "rollback", SpecID(Empty), ann); err != nil {
					t.Error(err)
				}
				i.serves()
			})
		})
	}
}

// loses deletes the rules of a change from a storage.
func loses(t *testing.T, storage *storetest.Storage, id string) {
	t.Helper()
	for _, key := range storage.Keys() {
		if strings.Contains(key, id) {
			if err := storage.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLostRulesAreNotTried confirms a change whose rules are lost. The confirmation fails, because no
// instance could serve these rules.
func TestLostRulesAreNotTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		one.confirm, one.rollout = ConfirmAny, Rollout{State: Canary, Hosts: []string{"b.test"}}
		one.load(disallow("GPTBot", "/b"))
		state, _ := one.History()
		one.end()
		loses(t, storage, state.Pending.ID)
		time.Sleep(readInterval)
		synctest.Wait()
		if err := acts(two, "confirm"); !errors.Is(err, ErrUnreadable) {
			t.Errorf("it ends with %v", err)
		}
		if state, _ := two.History(); state.Pending == nil || state.Pending.State != Waiting {
			t.Errorf("the candidate is %+v", state.Pending)
		}
		two.serves("/a")
	})
}
