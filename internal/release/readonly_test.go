package release

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// readOnly is a storage into which an instance can write nothing.
type readOnly struct{ *storetest.Storage }

var errReadOnly = errors.New("the file system is read-only")

func (readOnly) Lock(context.Context, string) error          { return errReadOnly }
func (readOnly) Store(context.Context, string, []byte) error { return errReadOnly }

// TestStorageIsReadOnly serves the rules of the configuration where nobody can publish them,
// unless they have to be confirmed or tried first.
func TestStorageIsReadOnly(t *testing.T) {
	for name, test := range map[string]struct {
		rules   []managed.Rule
		rollout publication.Rollout
		want    []string
	}{
		"harmless":   {rules: []managed.Rule{disallow("GPTBot", "/a")}, want: []string{"/a"}},
		"closing":    {rules: []managed.Rule{disallow("GPTBot", "/a"), disallow("bingbot")}},
		"tried":      {rules: []managed.Rule{disallow("GPTBot", "/a")}, rollout: publication.Rollout{Stage: publication.Shadow, Seconds: 3600}},
		"after that": {rules: []managed.Rule{disallow("GPTBot", "/a"), disallow("CCBot", "/b")}, want: []string{"/a", "/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInstance(t, readOnly{storetest.New()}, "one")
				i.rollout = test.rollout
				i.load(test.rules...)
				i.serves(test.want...)
				time.Sleep(time.Hour)
				synctest.Wait()
				i.serves(test.want...)
				i.end()
			})
		})
	}
}

// TestInstanceThatCanOnlyRead has an instance follow what another one publishes, although it
// cannot submit what it wants itself.
func TestInstanceThatCanOnlyRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one, two := newInstance(t, storage, "one"), newInstance(t, readOnly{storage}, "two")
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		two.serves("/a")
		one.load(disallow("GPTBot", "/b"))
		time.Sleep(2 * readInterval)
		synctest.Wait()
		two.serves("/b")
		two.end()
		one.end()
	})
}
