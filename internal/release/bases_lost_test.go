package release

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// A confirmation counts for a day: a site that closes itself again later is asked
// about again.
func TestConfirmationOfBaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, own := waits(t, storetest.New())
		if _, err := i.Act(t.Context(), "confirm", "", ann); err != nil {
			t.Fatal(err)
		}
		i.says("/")
		own.text.Store(open)
		i.read()
		i.says("/o")
		time.Sleep(26 * time.Hour)
		i.read()
		own.text.Store(closed)
		i.read()
		i.says("/o")
		if b := i.waitingBase(); b.Stage != publication.Confirmation {
			t.Errorf("stored: %+v", b)
		}
		i.end()
	})
}

// Where the text before a base is lost, others that wait can be decided all the same.
func TestLostBaseIsNotInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own := storetest.New(), newText(open)
		i := newInstance(t, storage, "one").with(own)
		i.load(disallow("GPTBot", "/a"))
		i.says("/o")
		own.text.Store(closed)
		i.read()
		lost := i.waitingBase()
		if _, err := i.Act(t.Context(), "stop", "", ann); err != nil {
			t.Fatal(err)
		}
		i.end()
		keys, err := storage.List(t.Context(), publication.Directory, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if strings.Contains(key, lost.Kept) {
				if err := storage.Delete(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
		own.text.Store(open)
		again := newInstance(t, storage, "one").with(own)
		again.load(disallow("GPTBot", "/a"))
		again.says("/o")
		own.text.Store("# anew\n" + closed)
		again.read()
		again.says("/o")
		if b := again.waitingBase(); b.Stage != publication.Confirmation || b.ID == lost.ID {
			t.Errorf("stored: %+v", b)
		}
		again.end()
	})
}
