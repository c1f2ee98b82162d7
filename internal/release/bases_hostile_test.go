package release

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// Whether the storage answers or not, nothing closes the site: what waits does so over a
// reload, and is stored once that can be done.
func TestBaseWaitsWithoutStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own := &failing{Storage: storetest.New()}, newText(open)
		i := newInstance(t, storage, "one").with(own)
		i.load(disallow("GPTBot", "/a"))
		i.says("/o")
		storage.fails.Store(true)
		own.text.Store(closed)
		i.read()
		i.says("/o")
		i.load(disallow("GPTBot", "/a"))
		i.read()
		i.says("/o")
		if state, _ := i.State(); len(state.Bases) != 0 {
			t.Fatalf("stored: %+v", state.Bases)
		}
		storage.fails.Store(false)
		i.read()
		i.says("/o")
		if b := i.waitingBase(); b.Stage != publication.Confirmation {
			t.Errorf("stored: %+v", b)
		}
		i.end()
		storage.fails.Store(true) // at the start, when nothing but the base is known
		again := newInstance(t, storage, "one").with(own)
		again.load(disallow("GPTBot", "/a"))
		again.text("a.test")
		storage.fails.Store(false)
		again.read()
		again.says("/o")
		if b := again.waitingBase(); b.Stage != publication.Confirmation {
			t.Errorf("after the start: %+v", b)
		}
		again.end()
	})
}

// failing is a storage that can fail.
type failing struct {
	*storetest.Storage
	fails atomic.Bool
}

func (f *failing) Load(ctx context.Context, key string) ([]byte, error) {
	if f.fails.Load() {
		return nil, errors.New("no connection")
	}
	return f.Storage.Load(ctx, key)
}

func (f *failing) Store(ctx context.Context, key string, value []byte) error {
	if f.fails.Load() {
		return errors.New("no connection")
	}
	return f.Storage.Store(ctx, key, value)
}

// Two instances that see a base which turns back and forth each minute never serve what
// nobody has confirmed, and write little.
func TestHostileBase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own := storetest.New(), newText(open)
		one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(own)
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		one.says("/o")
		two.says("/o")
		before, _ := one.State()
		for k := range 200 {
			own.text.Store(fmt.Sprintf("# %d\n%s", k, closed))
			if k%3 == 0 {
				own.text.Store(open)
			}
			one.says("/o")
			time.Sleep(40 * time.Second)
			two.says("/o")
			time.Sleep(21 * time.Second)
		}
		after, _ := one.State()
		if n := after.Revision - before.Revision; n > 2*200/10+10 || n < 5 {
			t.Errorf("%d writings", n)
		}
		if len(after.History) > 25 || len(after.Bases) > 1 {
			t.Errorf("%d changes, %d bases", len(after.History), len(after.Bases))
		}
		one.end()
		two.end()
	})
}
