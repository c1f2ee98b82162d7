package rulelist

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

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
		if !r.isUnseen() {
			t.Error("it is known what is stored")
		}
		storage.fails.Store(false)
		next(10 * time.Second)
		if r.isUnseen() || r.changed != 1 {
			t.Errorf("it is not known what is stored: %t, %d changes", r.isUnseen(), r.changed)
		}
	})
}

// TestWaitsWhileTheStorageFails compares with what is stored what the server said last, also
// where that waits for confirmation beside what it said before.
func TestWaitsWhileTheStorageFails(t *testing.T) {
	for name, tc := range map[string]struct {
		first, then string // what the server says
		good, want  string
		trouble     string
	}{
		"the stored one is the first":      {list("a", "b", "c"), list("a"), "a b c", "a", "it has lost more than half of its 3 rules"},
		"the first has lost much, too":     {list("d", "e", "f"), list("d"), "a b c", "d", "it has lost more than half of its 3 rules"},
		"the stored one is the last":       {list("a", "b", "c", "d", "e", "f", "g"), list("a", "b", "c"), "a b c", "a b c", ""},
		"the last has more than stored":    {list("d", "e", "f", "g", "a", "b", "c", "x", "y"), list("a", "b", "c", "x"), "a b c x", "a b c x", ""},
		"the first waits, and then a page": {list("d"), "<html>", "a b c", "d", "it is a web page"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				r := read(t, storage, list("a", "b", "c"), nil)
				next(time.Minute)
				r.end()

				storage.Fail(errors.New("no network"))
				r = read(t, storage, tc.first, nil)
				defer r.end()
				r.source.Say(tc.then, nil)
				next(10 * time.Minute)
				storage.Fail(nil)
				for range 2 { // then its server says that nothing has changed
					next(10 * time.Minute)
					r.has(t, tc.good)
					if v, _ := r.Wanted(); v.ids() != tc.want {
						t.Errorf("wanted is %s, want %s", v.ids(), tc.want)
					}
					if err := r.Trouble(); (err == nil) != (tc.trouble == "") || err != nil && !strings.Contains(err.Error(), tc.trouble) {
						t.Errorf("trouble is %v, want %q", err, tc.trouble)
					}
				}
			})
		})
	}
}

// TestReadBeforeItIsLoaded takes no list to be whole before it was looked what is stored, also
// if it was read, or is being read, before it is loaded.
func TestReadBeforeItIsLoaded(t *testing.T) {
	for name, tc := range map[string]struct {
		slow      bool
		says      string
		used      time.Duration // when, and so long after that it is loaded
		loaded    time.Duration
		good      string // once the configuration is loaded
		lacks     bool
		want, why string // in the end
	}{
		"it is being read":         {slow: true, says: list("a", "b"), used: 3 * time.Second, good: "nothing", lacks: true, want: "a b"},
		"it is being read, in use": {slow: true, says: list("a", "b"), loaded: 3 * time.Second, good: "a b", want: "a b"},
		"it was read":              {says: list(), used: 3 * time.Second, good: "", lacks: true, want: "", why: "it has lost more than half"},
		"it was read, in use":      {says: list(), loaded: 3 * time.Second, good: "a b", want: "", why: "it has lost more than half"},
		"it was no list":           {says: "<html>", used: 3 * time.Second, good: "nothing", lacks: true, want: "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				r := read(t, storage, list("a", "b"), nil)
				next(time.Minute)
				r.end()

				r.source.Say(tc.says, nil)
				l := newList(r.source, time.Now)
				if tc.slow {
					l = newList(remotetest.Slow{Source: r.source}, time.Now)
				}
				ctx, end := context.WithCancel(t.Context())
				defer end()
				go l.Run(ctx)
				site, _ := siteOf(l)
				next(tc.used)
				release := l.Use(&User{Changed: site.Changed, Failed: func() {}, Logger: zap.NewNop(), Storage: storage})
				defer release()
				next(tc.loaded)
				loading, cancel := context.WithTimeout(ctx, 5*time.Second)
				l.Load(loading, new(int), storage)
				cancel()
				if _, err := site.First(false); err != nil {
					t.Fatal(err)
				}
				if got := l.Good().ids(); got != tc.good || site.Lacks() != tc.lacks {
					t.Errorf("the list has %q, want %q; it lacks something: %t", got, tc.good, site.Lacks())
				}
				go site.Run(ctx, func(context.Context, *managed.Schedule) {}, func() {})
				next(2 * time.Minute)
				if v, why := l.Wanted(); v.ids() != tc.want || !strings.Contains(why, tc.why) || site.Lacks() {
					t.Errorf("wanted is %q (%s), want %q; it lacks something: %t", v.ids(), why, tc.want, site.Lacks())
				}
			})
		})
	}
}

// TestWrongWhileTheStorageFails says that a list cannot be used for just as long as its server
// says what nobody can use.
func TestWrongWhileTheStorageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		r := read(t, storage, list("a", "b"), nil)
		next(time.Minute)
		r.end()
		storage.Fail(errors.New("no network"))
		r = read(t, storage, "<html>", nil)
		defer r.end()
		next(time.Minute)
		storage.Fail(nil)
		next(10 * time.Second)
		r.has(t, "a b")
		if r.Trouble() == nil {
			t.Error("a page is taken for a list")
		}
		r.source.Say(list("a", "b"), nil)
		next(10 * time.Minute)
		r.has(t, "a b")
		if err := r.Trouble(); err != nil {
			t.Error(err)
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
