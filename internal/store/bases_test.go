package store

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// onlyBases limits an instance to bases.
func onlyBases(i *instance) *instance {
	i.Store = New(Options{
		Storage: i.inMemory, Instance: "first", Observer: i.observed, Logger: zap.NewNop(), Now: func() time.Time { return i.time },
		Memory: i.memory, OnlyBases: true,
	})
	i.maxPolicyValues = 1000
	return i
}

// build adds a base to the cache.
func (i *instance) build(key policy.Key, text string) {
	served := i.cache
	defer func() { i.cache = served }()
	i.cache = i.based
	i.learn(key, policy.ConfiguredHosts, text)
}

// TestStorageKeepsBases restores bases after a restart, separately from served files. It also works
// if nothing else is stored.
func TestStorageKeepsBases(t *testing.T) {
	for name, with := range map[string]func(*instance) *instance{
		"all": func(i *instance) *instance { return i }, "only bases": onlyBases,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, m := t.Context(), storetest.New()
			m.Now = noon
			first := with(newInstance(m, "first", noon))
			first.Read(ctx)
			first.build(siteA, "# base\n")
			first.learn(siteA, policy.ConfiguredHosts, "# composed\n")
			first.Write(ctx)
			first.Sync(ctx)
			for _, key := range m.Keys() {
				if name != "all" && !strings.Contains(key, "/policies/base-") {
					t.Errorf("%s is stored", key)
				}
			}
			again := with(newInstance(m, "first", noon.Add(time.Hour)))
			again.Read(ctx)
			state := again.based.Get(siteA)
			if state == nil || state.State().Current.Robots.Text() != "# base\n" {
				t.Errorf("the base is not known again: %v", state)
			}
			want := "# composed\n"
			if name != "all" {
				want = "(nothing)"
			}
			if got := again.text(siteA); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if again.memory.HasRunningStore() {
				t.Error("a store runs that was not started")
			}
		})
	}
}

// unread is a storage that can fail to load values.
type unread struct {
	*storetest.Storage
	is atomic.Bool
}

func (u *unread) Load(ctx context.Context, key string) ([]byte, error) {
	if u.is.Load() {
		return nil, errors.New("no network")
	}
	return u.Storage.Load(ctx, key)
}

// TestBasesAreReadAgain reads bases soon after the storage recovers, and not only at the next daily
// read.
func TestBasesAreReadAgain(t *testing.T) {
	for name, fails := range map[string]func(u *unread, err error){
		"nothing can be listed": func(u *unread, err error) { u.SetErr(err) },
		"values cannot be read": func(u *unread, err error) { u.is.Store(err != nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &unread{Storage: storetest.New()}
				first := newInstance(m.Storage, "first", time.Now())
				first.build(siteA, "# base\n")
				first.Write(t.Context())
				fails(m, errors.New("no network"))
				again := newInstance(m.Storage, "first", time.Now())
				store := New(Options{Storage: m, Instance: "first", Observer: again.observed, Logger: zap.NewNop(), Memory: again.memory, OnlyBases: true, MaxPolicies: 10})
				ctx, cancel := context.WithCancel(t.Context())
				done := store.Start(ctx, true)
				time.Sleep(20 * time.Minute)
				synctest.Wait()
				if again.based.Get(siteA) != nil {
					t.Fatal("it was read")
				}
				fails(m, nil)
				time.Sleep(20 * time.Minute)
				synctest.Wait()
				if e := again.based.Get(siteA); e == nil || e.Current().Robots.Text() != "# base\n" {
					t.Error("the base is not known again")
				}
				cancel()
				<-done
			})
		})
	}
}
