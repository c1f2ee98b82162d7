package publish

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// TestLastGoodVersionStays checks that an invalid list does not replace the last good version. The
// problem and its end are logged once.
func TestLastGoodVersionStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readList(t, list("a", "b"), nil)
		defer r.end()
		r.has(t, "a b")
		r.source.SetContent(list("a", "b", "c"), nil)
		advance(5 * time.Minute)
		r.has(t, "a b c")
		r.told(t)
		r.source.SetContent("", errDown)
		advance(3 * time.Hour)
		r.has(t, "a b c")
		r.told(t, "a list of rules cannot be used; the previous list stays in force")
		r.source.SetContent("<html>", nil)
		advance(time.Hour)
		r.told(t)
		r.has(t, "a b c")
		r.source.SetContent(list("a", "b", "d"), nil)
		advance(time.Hour)
		r.has(t, "a b d")
		r.told(t, "a list of rules can be used again")
		if r.changed != 3 || r.failed < 5 {
			t.Errorf("%d changes, %d failures", r.changed, r.failed)
		}
	})
}

// TestBackOff checks the growing intervals after failures, up to one hour.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readList(t, "", errDown)
		defer r.end()
		r.told(t, "a list of rules cannot be used; the published file stays in force")
		advance(5 * time.Minute)
		soon := r.source.ReadCount()
		if soon < 5 || soon > 9 {
			t.Errorf("%d attempts in 5 minutes", soon)
		}
		advance(100 * time.Hour)
		if n := r.source.ReadCount() - soon; n < 99 || n > 120 {
			t.Errorf("%d attempts in 100 hours", n)
		}
		r.source.SetContent(list("a"), nil)
		advance(time.Hour)
		r.has(t, "a")
		r.told(t, "a list of rules can be used again")
	})
}

// TestLoadWhileItIsRead loads a configuration while a slow background read runs.
func TestLoadWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRuleListFromSource(remotetest.SlowSource{Source: remotetest.NewSource("https://cms.test/rules", list("a"), nil)}, time.Now)
		remotetest.CheckLoadDoesNotWait(t, r.Run, func(ctx context.Context) { r.Load(ctx, new(int), nil) })
		if r.Content() == nil {
			t.Error("it is never read")
		}
	})
}
