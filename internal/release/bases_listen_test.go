package release

import (
	"testing"
	"testing/synctest"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// What waits does so, too, when the next configuration has another server for the same
// host, and so does what closes the site after that.
func TestBaseWaitsBesideAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own := &failing{Storage: storetest.New()}, newText(open)
		i := newInstance(t, storage, "one").with(own)
		i.load(disallow("GPTBot", "/a"))
		i.says("/o")
		storage.fails.Store(true) // what waits is known here alone
		own.text.Store(closed)
		i.read()
		i.says("/o")
		i.listen = []string{"192.0.2.1:80"}
		i.load(disallow("GPTBot", "/a"))
		i.text("a.test")
		i.read()
		i.says("/o")
		own.text.Store(open)
		i.read()
		i.says("/o")
		own.text.Store("# anew\n" + closed)
		i.read()
		i.says("/o")
		i.end()
	})
}

// Two servers with one host have a base each, and each waits.
func TestBaseWaitsAtBothServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := newText(open)
		i := newInstance(t, storetest.New(), "one").with(own)
		i.listen = []string{"192.0.2.1:80"}
		i.load(disallow("GPTBot", "/a"))
		all := func(do func()) {
			t.Helper()
			for _, listen := range []string{"192.0.2.1:80", "192.0.2.2:80"} {
				i.listen = []string{listen}
				do()
			}
		}
		all(func() { i.says("/o") })
		own.text.Store(closed)
		all(i.read)
		all(func() { i.says("/o") })
		i.waitingBase()
		if _, err := i.Act(t.Context(), "confirm", "", ann); err != nil {
			t.Fatal(err)
		}
		all(func() { i.says("/") })
		i.end()
	})
}
