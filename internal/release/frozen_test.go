package release

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// A registry that knows more crawlers of a class changes nothing where classes are
// frozen, at no instance and over no restart or rollback, until the rules are others.
func TestFrozenClasses(t *testing.T) {
	newer, err := uaident.Default().With(uaident.Crawler{Token: "NewTrainer", Class: uaident.AITraining, Operator: "New"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		load := func(i *instance, rules ...managed.Rule) {
			t.Helper()
			s, err := managed.NewSchedule(i.registry, rules, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Freeze()
			i.loadSchedule(s)
		}
		names := func(step string, i *instance, want bool) {
			t.Helper()
			text := i.text("a.test")
			if strings.Contains(text, "NewTrainer") != want || !strings.Contains(text, "GPTBot") {
				t.Errorf("%s: %s serves %q", step, i.name, text)
			}
		}
		changes := func(step string, i *instance, want int) {
			t.Helper()
			if s, _ := i.State(); s.Changes != want || s.Candidate != nil {
				t.Errorf("%s: %d changes, want %d, candidate %+v", step, s.Changes, want, s.Candidate)
			}
		}
		one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
		load(one, disallow("ai_training", "/a"))
		names("at first", one, false)
		two.registry = newer
		load(two, disallow("ai_training", "/a"))
		names("another instance", two, false)
		changes("another instance", two, 1)
		one.end()
		one = newInstance(t, storage, "one")
		one.registry = newer
		load(one, disallow("ai_training", "/a"))
		names("a restart", one, false)
		changes("a restart", one, 1)
		load(one, disallow("ai_training", "/b"))
		names("other rules", one, true)
		if s, _ := one.State(); !strings.Contains(strings.Join(s.Published.Difference, "\n"), "ai_training stands for") {
			t.Errorf("the difference is %q", s.Published.Difference)
		}
		if _, err := one.Act(t.Context(), "rollback", "", ann); err != nil {
			t.Fatal(err)
		}
		names("a rollback", one, false)
		load(one, disallow("ai_training", "/b"))
		names("a reload after it", one, false)
		changes("a reload after it", one, 3)
		one.end()
		two.end()
	})
}

// Classes that are not frozen follow the registry, without a change.
func TestClassesFollow(t *testing.T) {
	newer, err := uaident.Default().With(uaident.Crawler{Token: "NewTrainer", Class: uaident.AITraining, Operator: "New"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.load(disallow("ai_training", "/a"))
		i.registry = newer
		i.load(disallow("ai_training", "/a"))
		if text := i.text("a.test"); !strings.Contains(text, "NewTrainer") {
			t.Errorf("served %q", text)
		}
		if s, _ := i.State(); s.Changes != 1 {
			t.Errorf("%d changes", s.Changes)
		}
		i.end()
	})
}
