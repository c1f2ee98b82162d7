package publish

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// opensToAll is a rule that allows paths that the base disallows.
var opensToAll = managed.Rule{ID: "open", For: []string{"*"}, Allow: true, Paths: []string{"/"}}

// allowsPage reports whether a file allows Googlebot to fetch /.
func allowsPage(text string) bool {
	return policy.Parse([]byte(text)).Select(true, "Googlebot").Judge("/").Allowed
}

// isOpen checks that search engines may fetch a page.
func (i *instance) isOpen(when string) {
	i.t.Helper()
	if text := i.text("a.test"); !allowsPage(text) {
		i.t.Errorf("%s: %s closes the site: %q", when, i.name, text)
	}
}

// TestRulesAfterThoseServedWithoutHistory starts without a readable history, so the instance serves
// its rules. A later configuration that needs confirmation is compared with these rules, also after
// the storage recovers.
func TestRulesAfterThoseServedWithoutHistory(t *testing.T) {
	for name, test := range map[string]struct {
		rules   []managed.Rule
		rollout Rollout
		same    bool // no change waits
	}{
		"no more open":           {rules: []managed.Rule{disallow("GPTBot", "/a")}},
		"closed to all":          {rules: []managed.Rule{disallow("*", "/")}},
		"open to one":            {rules: []managed.Rule{{ID: "open", For: []string{"bingbot"}, Allow: true, Paths: []string{"/"}}}},
		"with a trial":           {rules: []managed.Rule{disallow("GPTBot", "/a")}, rollout: Rollout{State: Shadow, Seconds: 86400}},
		"the same, with a trial": {rules: []managed.Rule{opensToAll}, rollout: Rollout{State: Shadow, Seconds: 86400}, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				storage.SetErr(errors.New("no network"))
				i := newInstance(t, storage, "one").with(newText(closed))
				i.rollout = test.rollout
				i.load(opensToAll)
				i.read()
				i.isOpen("at first")
				i.load(test.rules...)
				i.isOpen("after a reload")
				i.read()
				i.isOpen("later")
				storage.SetErr(nil)
				time.Sleep(2 * readInterval)
				i.isOpen("once the storage answers")
				state, _ := i.History()
				if test.same {
					if state.Pending != nil || state.ChangeCount != 1 {
						t.Errorf("%d changes, candidate %+v", state.ChangeCount, state.Pending)
					}
					i.end()
					return
				}
				if c := state.Pending; c == nil || c.State != Waiting || state.Published == nil || len(state.Published.Reasons) > 0 {
					t.Errorf("it does not wait beside what was served: %+v, published %+v", c, state.Published)
				}
				if _, err := i.ApplyAction(t.Context(), "confirm", "", ann); err != nil {
					t.Fatal(err)
				}
				if test.rollout.State == "" && allowsPage(i.text("a.test")) {
					t.Error("what is confirmed is not served")
				}
			})
		})
	}
}

// TestHistoryAfterRulesServedWithoutIt replaces rules that were served without a history with the
// published rules.
func TestHistoryAfterRulesServedWithoutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one := newInstance(t, storage, "one")
		one.load(disallow("GPTBot", "/a"))
		two := newInstance(t, storage, "two")
		storage.SetErr(errors.New("no network"))
		two.load(disallow("CCBot", "/b"))
		two.serves("/b")
		storage.SetErr(nil)
		time.Sleep(2 * readInterval)
		state, _ := two.History()
		if alone := two.site.ServedWithoutHistory(); state.ChangeCount != 2 || alone != nil {
			t.Errorf("%d changes, alone %s", state.ChangeCount, alone)
		}
	})
}
