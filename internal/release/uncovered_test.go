package release

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// One instance has read that the site closes itself, which the rules open, and another, which
// has not, submits rules that open it no more: the text before stays, until somebody confirms
// the other.
func TestRulesUncoverABaseElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		rules  []managed.Rule
		text   string         // that the site has by then
		visits []ledger.Visit // that only the instance knows which has read it
		reload bool           // of that instance, with the same rules, before it looks at the history
		waits  bool
	}{
		"opened no more, and reloaded": {rules: []managed.Rule{disallow("GPTBot", "/a")}, text: closed, reload: true, waits: true},
		"opened no more":               {rules: []managed.Rule{disallow("GPTBot", "/a")}, text: closed, waits: true},
		"opened still":                 {rules: []managed.Rule{opensToAll, disallow("GPTBot", "/a")}, text: closed},
		"a text that closes little":    {rules: []managed.Rule{disallow("GPTBot", "/a")}, text: open + "Disallow: /p\n"},
		"closed with either text": {rules: []managed.Rule{disallow("Googlebot", "/v")}, text: open + "Disallow: /p\n",
			visits: []ledger.Visit{{Crawler: "Googlebot", Chain: []string{"Googlebot"}, Wildcard: true, Host: "a.test", Target: "/v"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage, own, late := storetest.New(), newText(open), newText(open)
				one, two := newInstance(t, storage, "one").with(late), newInstance(t, storage, "two").with(own)
				one.load(opensToAll)
				one.read()
				two.load(opensToAll)
				two.read()
				own.text.Store(test.text)
				two.read()
				two.visits = test.visits
				one.load(test.rules...)
				if state, _ := one.State(); state.Candidate != nil {
					t.Fatalf("it waits where the text before is known: %+v", state.Candidate)
				}
				if test.reload {
					two.load(test.rules...)
				}
				time.Sleep(2 * readInterval)
				two.isOpen("with other rules")
				if before := strings.Contains(two.text("a.test"), "Disallow: /o\n"); before != (test.text != closed || test.waits) {
					t.Errorf("serves %q", two.text("a.test"))
				}
				late.text.Store(test.text)
				one.read()
				one.isOpen("once it has read the other text")
				state, _ := two.State()
				if (len(state.Bases) > 0) != test.waits {
					t.Fatalf("bases %+v", state.Bases)
				}
				if test.waits {
					if b := two.waitingBase(); b.Stage != publication.Confirmation || !strings.Contains(b.Reasons[0], "may not fetch / any more") {
						t.Errorf("waits: %+v", b)
					}
					if _, err := one.Act(t.Context(), "confirm", "", ann); err != nil {
						t.Fatal(err)
					}
					two.read()
					one.read()
					for _, i := range []*instance{one, two} {
						if allowsPage(i.text("a.test")) {
							t.Errorf("%s does not serve what is confirmed", i.name)
						}
					}
				}
				one.end()
				two.end()
			})
		})
	}
}

// What a person wants closes what it closes: rules that were confirmed, and a rollback.
func TestRulesThatAreMeantUncoverABase(t *testing.T) {
	for name, reload := range map[string]bool{"confirm": false, "rollback": false, "confirm and reload": true, "rollback and reload": true} {
		verb, _, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage, own := storetest.New(), newText(open)
				one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(own)
				one.confirm = Any
				one.load(disallow("GPTBot", "/a"))
				if _, err := one.Act(t.Context(), "confirm", "", ann); err != nil {
					t.Fatal(err)
				}
				one.load(opensToAll)
				if _, err := one.Act(t.Context(), "confirm", "", ann); err != nil {
					t.Fatal(err)
				}
				two.load(opensToAll)
				two.read()
				own.text.Store(closed)
				two.read()
				if verb == "confirm" {
					one.load(disallow("GPTBot", "/b"))
				}
				if _, err := one.Act(t.Context(), verb, "", ann); err != nil {
					t.Fatal(err)
				}
				switch {
				case reload && verb == "confirm":
					two.load(disallow("GPTBot", "/b"))
				case reload:
					two.load(opensToAll) // which it has submitted before
				}
				time.Sleep(2 * readInterval)
				if allowsPage(two.text("a.test")) {
					t.Error("the text before is under the rules")
				}
				one.end()
				two.end()
			})
		})
	}
}

// The same of rules that are tried at a host: they are served there.
func TestTrialUncoversABaseElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own, late := storetest.New(), newText(open), newText(open)
		one, two := newInstance(t, storage, "one").with(late), newInstance(t, storage, "two").with(own)
		one.load(opensToAll)
		two.load(opensToAll)
		one.read()
		two.read()
		own.text.Store(closed)
		two.read()
		one.rollout = publication.Rollout{Stage: publication.Hosts, Hosts: []string{"a.test"}}
		one.load(disallow("GPTBot", "/a"))
		time.Sleep(2 * readInterval)
		if state, _ := two.State(); state.Candidate == nil || state.Candidate.Stage != publication.Hosts {
			t.Fatalf("it is not tried: %+v", state.Candidate)
		}
		two.isOpen("with the rules that are tried")
		two.waitingBase()
		one.end()
		two.end()
	})
}
