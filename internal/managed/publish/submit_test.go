package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestWishThatLacksSomething does not replace a published change with a schedule that lacks the rules
// of a list. Without a published change it is published.
func TestWishThatLacksSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.lacks = true
		i.load(disallow("GPTBot", "/a"))
		i.serves("/a")
		i.load(disallow("GPTBot", "/b"))
		time.Sleep(10 * readInterval)
		synctest.Wait()
		i.serves("/a")
		i.Submit(newSchedule(t, disallow("GPTBot", "/c")), FromRules, false)
		synctest.Wait()
		i.serves("/c")
	})
}

// TestShrunkList requires confirmation if a list loses more than half of its rules, also over a
// reload. Rules that have ended are ignored. So are rules from elsewhere, and rules of a list that
// the configuration no longer has.
func TestShrunkList(t *testing.T) {
	of := func(list string, paths ...string) (spec managed.Spec) {
		var rules []managed.Rule
		for _, path := range paths {
			r := managed.Rule{ID: path[1:], For: []string{"GPTBot"}, Paths: []string{path}}
			if path == "/over" {
				r.Until = "1999-01-01T00:00:00Z"
			}
			rules = append(rules, r)
		}
		if list == "" {
			return managed.Spec{Rules: rules}
		}
		return managed.Spec{Lists: []managed.RuleList{{Name: list, Rules: rules}}}
	}
	for name, test := range map[string]struct {
		before, after managed.Spec
		confirm       ConfirmationMode
		waits         bool
	}{
		"half are lost":            {before: of("x", "/a", "/b"), after: of("x", "/a")},
		"more than half are lost":  {before: of("x", "/a", "/b", "/c"), after: of("x", "/a"), waits: true},
		"all are lost":             {before: of("x", "/a"), waits: true},
		"it is not to be told":     {before: of("x", "/a"), confirm: ConfirmOff},
		"others have the names":    {before: of("x", "/a"), after: of("y", "/a"), waits: true},
		"rules that are over":      {before: of("x", "/a", "/over"), after: of("x", "/a")},
		"of the configuration":     {before: of("", "/a")},
		"the list is not used now": {before: of("old", "/a")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, name := range []string{"x", "y"} { // the lists of the configuration
					if !slices.ContainsFunc(test.after.Lists, func(l managed.RuleList) bool { return l.Name == name }) {
						test.after.Lists = append(test.after.Lists, managed.RuleList{Name: name})
					}
				}
				i := newInstance(t, storetest.New(), "one")
				i.confirm = cmp.Or(test.confirm, ConfirmSearch)
				i.loadSchedule(scheduleOf(t, test.before))
				for _, load := range []func(){
					func() { i.Submit(scheduleOf(t, test.after), FromRules, false); synctest.Wait() },
					func() { i.loadSchedule(scheduleOf(t, test.after)) },
				} {
					load()
					h, _ := i.History()
					if waits := h.Pending != nil; waits != test.waits || waits && !strings.Contains(fmt.Sprint(h.Pending.Reasons), "x: the list has lost more than half of its") {
						t.Errorf("it waits: %t, %+v", waits, h.Pending)
					}
				}
				if test.waits {
					if err := acts(i, "confirm"); err != nil {
						t.Error(err)
					}
					if h, _ := i.History(); h.Pending != nil {
						t.Errorf("it waits after its confirmation: %v", h.Pending.Reasons)
					}
				}
			})
		})
	}
}
