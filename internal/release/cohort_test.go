package release

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// A change is served to some operators, the same ones at both instances and none that
// searches, until its time is over or somebody ends it. The guards of both know of it
// as long as their crawlers may.
func TestRolloutByCrawlers(t *testing.T) {
	for name, test := range map[string]struct {
		act   func(*instance) error
		after string
	}{
		"the time is over": {func(*instance) error { time.Sleep(time.Hour); return nil }, "/b"},
		"promoted":         {func(i *instance) error { return acts(i, "promote") }, "/b"},
		"stopped":          {func(i *instance) error { return acts(i, "stop") }, "/a"},
		"rolled back":      {func(i *instance) error { return acts(i, "rollback") }, "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
				for _, i := range []*instance{one, two} {
					i.trials = &trials{texts: make(map[string]string)}
					i.load(disallow("GPTBot", "/a"))
					i.rollout = publication.Rollout{Stage: publication.Crawlers, Percent: 50, Seconds: 3600}
				}
				for _, i := range []*instance{one, two} {
					i.load(disallow("GPTBot", "/b"))
				}
				counts := make(map[string]int)
				for _, c := range uaident.Default().Crawlers() {
					operator := cmp.Or(c.Operator, c.Token)
					text := one.textFor("a.test", operator)
					if text != two.textFor("a.test", operator) {
						t.Fatalf("%s is served different texts", operator)
					}
					served := strings.Contains(text, "Disallow: /b\n")
					if served && (c.Class == uaident.Search || operator == "Google") {
						t.Errorf("%s, which searches, is served the change", operator)
					}
					if counts["all"]++; served {
						counts["served"]++
					}
				}
				if share := 100 * counts["served"] / counts["all"]; share < 20 || share > 60 {
					t.Errorf("%d of 100 are served it", share)
				}
				one.serves("/a")
				if len(one.trials.ofSome()) != 1 || !one.trials.ofSome()[0].Ended.IsZero() {
					t.Fatalf("the guard knows of %+v", one.trials.ofSome())
				}
				changes := one.trials.changes()
				if err := test.act(one); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Minute) // the other one reads it
				synctest.Wait()
				for _, i := range []*instance{one, two} {
					i.serves(test.after)
					if text := i.textFor("a.test", "OpenAI"); text != i.text("a.test") {
						t.Errorf("OpenAI is served %q", text)
					}
					if len(i.trials.ofSome()) != 1 || i.trials.ofSome()[0].Ended.IsZero() || !strings.Contains(string(i.trials.ofSome()[0].Text("a.test").Body), "/b\n") {
						t.Errorf("afterwards the guard of %s knows of %+v", i.name, i.trials.ofSome())
					}
				}
				if one.trials.changes() == changes {
					t.Error("the guard is not told that another text is served")
				}
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				if len(one.trials.ofSome()) != 0 {
					t.Errorf("a day later the guard knows of %+v", one.trials.ofSome())
				}
				one.end()
				two.end()
			})
		})
	}
}

func acts(i *instance, verb string) error {
	_, err := i.Act(context.Background(), verb, "", ann)
	return err
}

// A change that has ended while an instance was away is known to its guard, too.
func TestCohortOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		i := newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/a"))
		i.rollout = publication.Rollout{Stage: publication.Crawlers, Percent: 50}
		i.load(disallow("GPTBot", "/b"))
		if err := acts(i, "rollback"); err != nil {
			t.Fatal(err)
		}
		i.end()
		again := newInstance(t, storage, "one")
		again.trials = &trials{texts: make(map[string]string)}
		again.load(disallow("GPTBot", "/b"))
		again.serves("/a")
		if len(again.trials.ofSome()) != 1 || again.trials.ofSome()[0].Ended.IsZero() || !again.trials.ofSome()[0].ServedTo("OpenAI") && !again.trials.ofSome()[0].ServedTo("Anthropic") && !again.trials.ofSome()[0].ServedTo("Amazon") {
			t.Errorf("the guard knows of %+v", again.trials.ofSome())
		}
		again.end()
		if len(again.trials.ofSome()) != 0 {
			t.Errorf("at the end of the configuration it knows of %+v", again.trials.ofSome())
		}
	})
}

// The same rules with a higher percentage are served to more operators, and all that had
// them still do; a lower one, such as of an instance with an older configuration, changes
// nothing.
func TestWiden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.trials = &trials{texts: make(map[string]string)}
		i.load(disallow("GPTBot", "/a"))
		var before map[string]bool
		for n, percent := range []int{10, 60, 20} {
			i.rollout = publication.Rollout{Stage: publication.Crawlers, Percent: percent}
			i.load(disallow("GPTBot", "/b"))
			state, _ := i.State()
			served := make(map[string]bool)
			for _, c := range uaident.Default().Crawlers() {
				operator := cmp.Or(c.Operator, c.Token)
				if strings.Contains(i.textFor("a.test", operator), "Disallow: /b\n") {
					served[operator] = true
				} else if before[operator] {
					t.Errorf("%s has it no more at %d percent", operator, percent)
				}
				if knows := len(i.trials.ofSome()) == 1 && i.trials.ofSome()[0].ServedTo(operator); knows != served[operator] {
					t.Fatalf("%s is served it at %d percent: %t, and the guard knows of %+v", operator, percent, served[operator], i.trials.ofSome())
				}
			}
			if want := max(percent, 10); n == 2 && (len(served) != len(before) || state.Candidate.Rollout.Percent != 60) || n < 2 && (len(served) <= len(before) || state.Candidate.Cohort != want) {
				t.Errorf("at %d percent %d operators have it, before %d: %+v", percent, len(served), len(before), state.Candidate)
			}
			before = served
		}
		i.end()
	})
}
