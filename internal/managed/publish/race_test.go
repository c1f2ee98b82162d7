package publish

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// interrupted is a storage that calls a function just before it locks.
type interrupted struct {
	*storetest.Storage
	happens func()
}

func (s *interrupted) Lock(ctx context.Context, name string) error {
	if happens := s.happens; happens != nil {
		s.happens = nil
		happens()
	}
	return s.Storage.Lock(ctx, name)
}

// submitTo submits a spec from another instance.
func submitTo(t *testing.T, storage Storage, spec []byte, reasons ...string) {
	t.Helper()
	s := NewStore(storage, "a.test", NewSiteHistory(), time.Now)
	_, _, err := s.Update(t.Context(), spec, func(state History) (History, *Change, error) {
		after, changed := state.Submit("two", Change{ID: SpecID(spec), Reasons: reasons}, time.Now())
		return after, changed, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// another starts a second configuration of the same instance.
func (i *instance) another(running bool, s *managed.Schedule) (end func()) {
	r := New(Config{Schedule: s, RequestSites: new(site.Sites), Registry: uaident.Default(), ConfirmationMode: ConfirmSearch, Storage: i.storage, Sites: i.sites,
		Instance: func() string { return i.name }, IsRunning: func() bool { return running },
		NewBaseLookup: func() func(string) []byte { return func(string) []byte { return nil } },
		Visits:        func() []ledger.CrawlerVisit { return nil }, FetchedSince: nobodyReads, Now: time.Now, Logger: zap.NewNop(), Observer: &i.news})
	return r.Begin(HandlerPlace{Name: "a.test", Hosts: []string{"a.test"}})
}

// TestComparedBeforeItCounts never publishes a change that was not compared with the published one,
// even if others submit meanwhile.
func TestComparedBeforeItCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &interrupted{Storage: storetest.New()}
		i := newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/a"))
		closing := newSchedule(t, disallow("*"))
		submitTo(t, storage.Storage, closing.EncodeSpec(), "it closes the site")
		storage.happens = func() {
			submitTo(t, storage.Storage, newSchedule(t, disallow("*", "/c")).EncodeSpec(), "another reason")
		}
		i.load(disallow("*"))
		i.serves("/a")
		if state, _ := i.History(); state.Pending == nil || len(state.Pending.Reasons) == 0 {
			t.Errorf("the candidate is %+v", state.Pending)
		}
	})
}

// TestFailedReloadTakesNoTurn lets the running configuration continue after another one failed to
// load.
func TestFailedReloadTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.load(disallow("GPTBot", "/a"))
		i.another(false, newSchedule(t, disallow("GPTBot", "/b")))()
		i.Submit(newSchedule(t, disallow("GPTBot", "/c")), FromRules, false)
		synctest.Wait()
		i.serves("/c")
	})
}

// TestOldConfigurationSubmitsNoMore ignores the submission of a configuration that has ended during a
// comparison.
func TestOldConfigurationSubmitsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		compared := make(chan struct{})
		var waits atomic.Bool
		i.compare = func() {
			if waits.CompareAndSwap(true, false) {
				<-compared
			}
		}
		i.load(disallow("GPTBot", "/a"))
		waits.Store(true)
		i.Submit(newSchedule(t, disallow("*", "/b")), FromRules, false)
		synctest.Wait()
		end := i.another(true, newSchedule(t, disallow("GPTBot", "/c")))
		time.Sleep(time.Second)
		synctest.Wait()
		close(compared)
		time.Sleep(time.Hour)
		synctest.Wait()
		i.serves("/c")
		end()
	})
}

// TestUnknownCrawlerInHistory publishes rules although the published change names a crawler that the
// registry no longer has.
func TestUnknownCrawlerInHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		submitTo(t, storage, []byte(`{"rules":[{"id":"r","for":["HouseBot"],"paths":["/h"]}]}`))
		i := newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/a"))
		i.serves("/a")
	})
}

// TestStateComesBack continues with the history in memory if the stored one is lost or damaged, and
// stores it again.
func TestStateComesBack(t *testing.T) {
	for name, damage := range map[string]func(s *storetest.Storage, key string) error{
		"lost":    func(s *storetest.Storage, key string) error { return s.Delete(t.Context(), key) },
		"damaged": func(s *storetest.Storage, key string) error { return s.Store(t.Context(), key, []byte("{")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				i := newInstance(t, storage, "one")
				i.load(disallow("GPTBot", "/a"))
				i.load(disallow("GPTBot", "/b"))
				keys, err := storage.List(t.Context(), Directory, true)
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range keys {
					if strings.HasSuffix(key, "/state.json") {
						err = damage(storage, key)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				i.serves("/b")
				stored, err := NewStore(storage, "a.test", NewSiteHistory(), time.Now).ReadHistory(t.Context())
				if err != nil || stored.Published == nil || len(stored.Past) != 1 {
					t.Errorf("stored are %+v, %v", stored, err)
				}
				i.load(disallow("GPTBot", "/c"))
				i.serves("/c")
			})
		})
	}
}

// TestDecidesAboutWhatWasShown acts without an ID after another instance has submitted a new change.
// The action fails, because this instance has not shown that change.
func TestDecidesAboutWhatWasShown(t *testing.T) {
	for _, verb := range []string{"confirm", "promote", "stop"} {
		t.Run(verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
				one.trials, two.trials = &trials{texts: make(map[string]string)}, &trials{texts: make(map[string]string)}
				one.load(disallow("GPTBot", "/a"))
				two.load(disallow("GPTBot", "/a"))
				if one.confirm = ConfirmAny; verb != "confirm" {
					one.confirm, one.rollout = ConfirmSearch, Rollout{State: Shadow}
				}
				two.confirm, two.rollout = one.confirm, one.rollout
				one.load(disallow("GPTBot", "/b"))
				time.Sleep(readInterval)
				synctest.Wait()
				two.load(disallow("GPTBot", "/c"))
				if err := acts(one, verb); !errors.Is(err, ErrOther) {
					t.Errorf("about what was not shown: %v", err)
				}
				if state, _ := two.History(); state.Pending == nil {
					t.Errorf("it is over: %+v", state)
				}
				if err := acts(one, verb); err != nil {
					t.Error(err)
				}
				if state, _ := one.History(); state.Pending != nil {
					t.Errorf("it is not over: %+v", state.Pending)
				}
			})
		})
	}
}

// TestListAfterRollback changes a list after a rollback. The change waits for confirmation, because
// it would undo the rollback.
func TestListAfterRollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.load(disallow("GPTBot", "/a"))
		i.load(disallow("GPTBot", "/b"))
		if _, err := i.ApplyAction(t.Context(), "rollback", "", ann); err != nil {
			t.Fatal(err)
		}
		i.Submit(newSchedule(t, disallow("GPTBot", "/b", "/c")), FromRules, false)
		synctest.Wait()
		i.serves("/a")
		if state, _ := i.History(); state.Pending == nil || state.Pending.State != Waiting {
			t.Errorf("the candidate is %+v", state.Pending)
		}
	})
}
