package publish

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// readOnly is a storage that rejects writes.
type readOnly struct{ *storetest.Storage }

var errReadOnly = errors.New("the file system is read-only")

func (readOnly) Lock(context.Context, string) error          { return errReadOnly }
func (readOnly) Store(context.Context, string, []byte) error { return errReadOnly }

// TestStorageIsReadOnly serves the rules of the configuration if the storage rejects writes. Rules
// that need confirmation or a trial are not served.
func TestStorageIsReadOnly(t *testing.T) {
	for name, test := range map[string]struct {
		rules   []managed.Rule
		rollout Rollout
		want    []string
	}{
		"harmless":   {rules: []managed.Rule{disallow("GPTBot", "/a")}, want: []string{"/a"}},
		"closing":    {rules: []managed.Rule{disallow("GPTBot", "/a"), disallow("bingbot")}},
		"tried":      {rules: []managed.Rule{disallow("GPTBot", "/a")}, rollout: Rollout{State: Shadow, Seconds: 3600}},
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
			})
		})
	}
}

// TestStorageStaysReadOnly continues to serve the previous rules over a reload whose rules need a
// trial. Other changed rules are served.
func TestStorageStaysReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, readOnly{storetest.New()}, "one")
		i.load(disallow("GPTBot", "/a"))
		i.serves("/a")
		i.Submit(newSchedule(t, disallow("GPTBot", "/b")), FromRules, false)
		time.Sleep(2 * readInterval)
		synctest.Wait()
		i.serves("/b")
		i.rollout = Rollout{State: Shadow, Seconds: 3600}
		i.load(disallow("GPTBot", "/c"))
		time.Sleep(2 * readInterval)
		synctest.Wait()
		i.serves("/b")
	})
}

// slowVisits is the time that reading the stored visits needs.
const slowVisits = 5 * time.Second

// TestServesNothingBeforeItCompares does not serve rules before they are compared, even if the
// storage then fails once.
func TestServesNothingBeforeItCompares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &refusesOnce{Storage: storetest.New()}
		i := newInstance(t, storage, "one")
		visited := make(chan struct{})
		i.visited = visited
		i.visits.Store(new([]ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/b/1"}}))
		time.AfterFunc(slowVisits, func() { close(visited) })
		i.load(disallow("*", "/b"))
		i.serves() // after the maximum wait of two seconds
		time.Sleep(2 * readInterval)
		synctest.Wait()
		if state, _ := i.History(); state.Published != nil || state.Pending == nil || !storage.refused {
			t.Errorf("refused %t, the history is %+v, want a change that waits", storage.refused, state)
		}
		i.serves()
	})
}

// refusesOnce is a storage whose first lock fails.
type refusesOnce struct {
	*storetest.Storage
	refused bool
}

func (s *refusesOnce) Lock(ctx context.Context, name string) error {
	if !s.refused {
		s.refused = true
		return errReadOnly
	}
	return s.Storage.Lock(ctx, name)
}

// TestInstanceThatCanOnlyRead serves the change that another instance publishes, although its own
// submission fails.
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
	})
}
