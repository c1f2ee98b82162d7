package managed

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Frozen classes are stored with what they stand for, and are read back so whatever the
// registry says then; who wants the same differs in nothing else.
func TestFreeze(t *testing.T) {
	newer, err := uaident.Default().With(uaident.Crawler{Token: "NewTrainer", Class: uaident.AITraining, Operator: "New"})
	if err != nil {
		t.Fatal(err)
	}
	of := func(registry *uaident.Registry, freeze bool, rules ...Rule) *Schedule {
		s, err := NewSchedule(registry, rules, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if freeze {
			s.Freeze()
		}
		return s
	}
	text := func(s *Schedule) string {
		composed, err := s.Text(epoch, "a.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(composed)
	}
	old := of(uaident.Default(), true, disallow("ai_training"), disallow("bingbot", "/x"))
	again, err := ParseSpec(newer, old.Spec())
	if err != nil || string(again.Spec()) != string(old.Spec()) || text(again) != text(old) {
		t.Errorf("%v, read back as %s", err, again.Spec())
	}
	next := of(newer, true, disallow("ai_training"), disallow("bingbot", "/x"))
	if !old.SameWish(next) || string(old.Spec()) == string(next.Spec()) || !strings.Contains(text(next), "NewTrainer") {
		t.Errorf("with the newer registry: %s", next.Spec())
	}
	for name, other := range map[string]*Schedule{
		"not frozen":  of(newer, false, disallow("ai_training"), disallow("bingbot", "/x")),
		"other rules": of(newer, true, disallow("ai_training"), disallow("bingbot", "/y")),
	} {
		if old.SameWish(other) || other.SameWish(old) {
			t.Errorf("%s: the same", name)
		}
	}
	if difference := Difference(old, next); len(difference) != 2 || !strings.Contains(difference[1], "NewTrainer") {
		t.Errorf("the difference is %q", difference)
	}
	if s := of(newer, true, disallow("GPTBot")); s.IsFrozen() || strings.Contains(string(s.Spec()), "frozen") {
		t.Errorf("without a class: %s", s.Spec())
	}
	if _, err := ParseSpec(newer, []byte(`{"rules":[{"id":"x","for":["ai_training"]}],"frozen":{"ai_training":["a\nb"]}}`)); err == nil {
		t.Error("a token of two lines is taken")
	}
}
