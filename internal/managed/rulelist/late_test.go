package rulelist

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// TestStorageFailsAtTheStart takes what is stored once the storage answers, also where the
// server is down for longer, and compares with it what was read meanwhile.
func TestStorageFailsAtTheStart(t *testing.T) {
	for name, tc := range map[string]struct {
		says        string // meanwhile, "" for nothing
		before      string // what the list has while the storage fails
		want        string
		whyConfirms bool
	}{
		"the server is down":          {before: "nothing", want: "a b"},
		"it says the same":            {says: list("a", "b"), before: "a b", want: "a b"},
		"it says more":                {says: list("a", "b", "c"), before: "a b c", want: "a b c"},
		"it has lost too much":        {says: list("c"), before: "c", want: "c", whyConfirms: true},
		"it says what nobody can use": {says: "<html>", before: "nothing", want: "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				r := read(t, storage, list("a", "b"), nil)
				next(time.Minute)
				r.end()

				storage.Fail(errors.New("no network"))
				err := error(nil)
				if tc.says == "" {
					err = errDown
				}
				r = read(t, storage, tc.says, err)
				defer r.end()
				site, _ := siteOf(r.List)
				release := r.Use(&User{Changed: site.Changed})
				defer release()
				if _, err := site.First(false); err != nil {
					t.Fatal(err)
				}
				ctx, end := context.WithCancel(t.Context())
				defer end()
				go site.Run(ctx, func(context.Context, *managed.Schedule) {}, func() {})
				r.has(t, tc.before)
				next(time.Minute)
				r.has(t, tc.before)
				if !site.Lacks() {
					t.Error("it is taken to be whole")
				}
				storage.Fail(nil)
				next(10 * time.Second)
				v, why := r.Wanted()
				if v.ids() != tc.want || (why != "") != tc.whyConfirms {
					t.Errorf("wanted are %s (%s), want %s", v.ids(), why, tc.want)
				}
				if site.Lacks() {
					t.Error("it is taken to lack something")
				}
			})
		})
	}
}

// TestNothingWasStored takes a list to be whole once a storage that failed says that it has
// nothing of it.
func TestNothingWasStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &failing{Storage: remotetest.NewStorage()}
		storage.fails.Store(true)
		r := read(t, storage, "", errDown)
		defer r.end()
		if !r.Unseen() {
			t.Error("it is known what is stored")
		}
		storage.fails.Store(false)
		next(10 * time.Second)
		if r.Unseen() || r.changed != 1 {
			t.Errorf("it is not known what is stored: %t, %d changes", r.Unseen(), r.changed)
		}
	})
}

// failing is a storage that says nothing of what is not there, either.
type failing struct {
	*remotetest.Storage
	fails atomic.Bool
}

func (f *failing) Load(ctx context.Context, key string) ([]byte, error) {
	if f.fails.Load() {
		return nil, errors.New("no network")
	}
	return f.Storage.Load(ctx, key)
}
