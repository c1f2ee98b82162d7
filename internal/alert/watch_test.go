package alert

import (
	"testing"
	"time"
)

// TestTellsInOrder has one who looks come to tell that after another who has looked later.
func TestTellsInOrder(t *testing.T) {
	w := newWorld(t)
	told := 0
	w.Subscribe(t.Context(), func(l List) { told = len(l.Alerts) })
	before, _ := w.listUpdated()
	w.answer("a.test", "enforce", 404, "")
	w.leap(time.Minute)
	if w.notifyWatchers(before); told != 1 {
		t.Errorf("%d alerts were told last, want 1", told)
	}
}

// TestTellsInOrderOfALook has one who looks come to tell that after another who has read what
// was found, with what was acknowledged since.
func TestTellsInOrderOfALook(t *testing.T) {
	w := newWorld(t)
	var told List
	w.Subscribe(t.Context(), func(l List) { told = l })
	w.answer("a.test", "enforce", 404, "")
	w.leap(time.Minute)
	w.time = w.time.Add(time.Minute)
	before, looked := w.listUpdated()
	if !looked || len(before.Alerts) != 1 {
		t.Fatalf("looked: %t, %+v", looked, before)
	}
	if _, err := w.Acknowledge(before.Alerts[0].ID, "", ""); err != nil {
		t.Fatal(err)
	}
	w.notifyWatchers(w.List())
	if w.notifyWatchers(before); told.Alerts[0].State != Acknowledged {
		t.Errorf("%s was told last", told.Alerts[0].State)
	}
}
