package release

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// ofTheFuture returns an instance whose clock was set right, after a base had to wait
// while it was a year ahead, with the site's own text and the base.
func ofTheFuture(t *testing.T) (i *instance, own *ownText, waits publication.BaseChange) {
	t.Helper()
	storage, own := storetest.New(), newText(open)
	wrong := newInstance(t, storage, "one").with(own)
	wrong.ahead = 365 * 24 * time.Hour
	wrong.load(disallow("GPTBot", "/a"))
	wrong.says("/o")
	own.text.Store(closed)
	wrong.read()
	waits = wrong.waitingBase()
	wrong.end()
	i = newInstance(t, storage, "one").with(own)
	i.load(disallow("GPTBot", "/a"))
	return i, own, waits
}

// TestOtherBaseThanOneOfTheFuture has another base take the place of one that was found
// while the clock was ahead.
func TestOtherBaseThanOneOfTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, own, before := ofTheFuture(t)
		own.text.Store(closed + "Disallow: /o\n")
		i.read()
		if b := i.waitingBase(); b.ID == before.ID || b.Stage != publication.Confirmation {
			t.Errorf("another base waits as %+v", b)
		}
		i.end()
	})
}

// TestBaseOfTheFutureIsMended ends the waiting of such a base when the site has mended it.
func TestBaseOfTheFutureIsMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, own, _ := ofTheFuture(t)
		own.text.Store(open)
		i.read()
		if state, _ := i.State(); len(state.Bases) != 0 {
			t.Errorf("it waits although the site has mended it: %+v", state.Bases)
		}
		i.end()
	})
}
