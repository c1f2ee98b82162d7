package registry

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// TestStorageFailsAtTheStart takes what is stored once the storage answers, also where the
// server is down for longer. What was read meanwhile waits if it is odd beside that, and is
// not stored before, by which all other instances would take it to be accepted.
func TestStorageFailsAtTheStart(t *testing.T) {
	for name, tc := range map[string]struct {
		says          string // meanwhile, "" for nothing
		before, want  string
		waits, evenSo bool // at the end, and while the storage fails
	}{
		"the server is down":   {before: "nothing", want: "ABot BBot CBot DBot"},
		"it says the same":     {says: text(1, "ABot", "BBot", "CBot", "DBot"), before: "ABot BBot CBot DBot", want: "ABot BBot CBot DBot"},
		"it says more":         {says: text(2, "ABot", "BBot", "CBot", "DBot", "EBot"), before: "ABot BBot CBot DBot EBot", want: "ABot BBot CBot DBot EBot"},
		"it has lost too much": {says: text(2, "ABot"), before: "ABot", want: "ABot BBot CBot DBot", waits: true},
		"it is odd anyway":     {says: text(2, "ABot", "BBot", "CBot", "Googlebot:seo"), before: "nothing", want: "ABot BBot CBot DBot", waits: true, evenSo: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				first := remotetest.NewSource("https://names.test/registry.json", text(1, "ABot", "BBot", "CBot", "DBot"), nil)
				other := read(t, storage, nil, first, nil)
				defer other.end()
				next(time.Minute)

				storage.Fail(errors.New("no network"))
				err := error(nil)
				if tc.says == "" {
					err = errDown
				}
				r := read(t, storage, nil, remotetest.NewSource("https://names.test/registry.json", tc.says, err), nil)
				defer r.end()
				next(time.Minute)
				r.has(t, tc.before)
				if waits := r.Status().Waiting != nil; waits != tc.evenSo {
					t.Errorf("while the storage fails something waits: %t", waits)
				}
				if tc.says != "" {
					first.Say(tc.says, nil)
				}
				next(10 * time.Minute)
				storage.Fail(nil)
				next(10 * time.Minute)
				r.has(t, tc.want)
				other.has(t, tc.want)
				if waits, beside := r.Status().Waiting != nil, other.Status().Waiting != nil; waits != tc.waits || beside != tc.waits {
					t.Errorf("something waits here: %t, at the other instance: %t", waits, beside)
				}
			})
		})
	}
}

// TestAcceptedIsStored stores a text when it is accepted: the process may be killed then.
func TestAcceptedIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		source := remotetest.NewSource("https://names.test/registry.json", text(1, "ABot"), nil)
		r := read(t, storage, nil, source, nil)
		next(time.Minute)
		source.Say(text(2, "ABot", "Googlebot:seo"), nil)
		next(10 * time.Minute)
		if err := r.Accept(r.Status().Waiting.ID, "ann"); err != nil {
			t.Fatal(err)
		}
		r.end()
		r = read(t, storage, nil, source, nil)
		defer r.end()
		r.has(t, "ABot Googlebot")
		r.told(t)
	})
}

// TestAcceptedAlready asks nobody to accept what another instance has accepted before this
// one has read it.
func TestAcceptedAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		source := remotetest.NewSource("https://names.test/registry.json", text(1, "ABot"), nil)
		r, late := read(t, storage, nil, source, nil), remotetest.NewSource("https://names.test/registry.json", text(1, "ABot"), nil)
		defer r.end()
		other := read(t, storage, nil, late, nil)
		defer other.end()
		next(time.Minute)
		source.Say(text(2, "ABot", "Googlebot:seo"), nil)
		next(10 * time.Minute)
		if err := r.Accept(r.Status().Waiting.ID, "ann"); err != nil {
			t.Fatal(err)
		}
		late.Say(text(2, "ABot", "Googlebot:seo"), nil)
		next(10 * time.Minute)
		other.has(t, "ABot Googlebot")
		other.told(t, inUse)
	})
}

// TestAcceptedWhileTheStorageFails keeps in use, and stores, what was accepted while it was
// not known what is stored, also if that is odd beside it.
func TestAcceptedWhileTheStorageFails(t *testing.T) {
	for name, during := range map[string]bool{"before it is asked again": false, "while it is asked": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				old := text(1, "ABot", "BBot", "CBot", "DBot")
				source := remotetest.NewSource("https://names.test/registry.json", old, nil)
				r := read(t, storage, nil, source, nil)
				next(time.Minute)
				r.end()

				late := &slow{Storage: storage}
				storage.Fail(errors.New("no network"))
				source.Say(text(2, "ABot", "Googlebot:seo"), nil)
				r = read(t, late, nil, source, nil)
				next(time.Minute)
				r.has(t, "nothing")
				if during {
					late.takes.Store(int64(time.Second))
					storage.Fail(nil)
				}
				for during && !late.asked.Load() {
					next(100 * time.Millisecond)
				}
				if err := r.Accept(r.Status().Waiting.ID, "ann"); err != nil {
					t.Fatal(err)
				}
				r.has(t, "ABot Googlebot")
				storage.Fail(nil)
				next(10 * time.Minute)
				r.has(t, "ABot Googlebot")
				if r.Status().Waiting != nil {
					t.Error("it waits again")
				}
				r.end()
				source.Say("", errDown)
				r = read(t, storage, nil, source, nil)
				defer r.end()
				r.has(t, "ABot Googlebot")
			})
		})
	}
}

// TestAskedOnce asks nobody again to accept what waits once it is known what is stored.
func TestAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		source := remotetest.NewSource("https://names.test/registry.json", text(1, "ABot"), nil)
		r := read(t, storage, nil, source, nil)
		next(time.Minute)
		r.end()
		storage.Fail(errors.New("no network"))
		r = read(t, storage, nil, source, nil)
		defer r.end()
		source.Say(text(2, "ABot", "Googlebot:seo"), nil)
		next(10 * time.Minute)
		r.told(t, waits)
		storage.Fail(nil)
		next(10 * time.Minute)
		r.told(t)
		if r.Status().Waiting == nil {
			t.Error("it does not wait any more")
		}
	})
}

// TestWrongWhileTheStorageFails says that the registry cannot be used for just as long as its
// server says what nobody can use.
func TestWrongWhileTheStorageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		source := remotetest.NewSource("https://names.test/registry.json", text(1, "ABot"), nil)
		r := read(t, storage, nil, source, nil)
		next(time.Minute)
		r.end()
		storage.Fail(errors.New("no network"))
		source.Say("<html>", nil)
		r = read(t, storage, nil, source, nil)
		defer r.end()
		next(time.Minute)
		storage.Fail(nil)
		next(10 * time.Second)
		r.has(t, "ABot")
		if r.Trouble() == nil {
			t.Error("a page is taken for a registry")
		}
		source.Say(text(1, "ABot"), nil)
		next(2 * time.Hour)
		r.has(t, "ABot")
		if err := r.Trouble(); err != nil {
			t.Error(err)
		}
	})
}

// slow is a storage that takes so long to say what it has.
type slow struct {
	*remotetest.Storage
	takes atomic.Int64
	asked atomic.Bool
}

func (s *slow) Load(ctx context.Context, key string) ([]byte, error) {
	takes := time.Duration(s.takes.Load())
	s.asked.Store(takes > 0)
	value, err := s.Storage.Load(ctx, key)
	time.Sleep(takes)
	return value, err
}
