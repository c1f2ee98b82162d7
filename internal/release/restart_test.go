package release

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestStorageDownAfterARestart serves what is published also where the process has
// only found that stored, and submitted nothing.
func TestStorageDownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		i := newInstance(t, storage, "first")
		i.load(disallow("GPTBot", "/a"))
		i.end()
		i = newInstance(t, storage, "first")
		i.load(disallow("GPTBot", "/a"))
		storage.Break(errors.New("no network"))
		i.load(disallow("GPTBot", "/b"))
		i.serves("/a")
		storage.Break(nil)
		time.Sleep(readInterval)
		i.serves("/b")
		i.end()
	})
}
