package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestNotesOfAWrongClock starts a process after its clock was years ahead. New values are stored,
// although the stored value has a future time.
func TestNotesOfAWrongClock(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	ahead := newInstance(m, "first", noon.AddDate(10, 0, 0))
	ahead.Read(ctx)
	ahead.visit(siteA)
	ahead.known.write(1, `"known"`)
	ahead.later(t, 0)
	if m.WriteAttempts != 2 {
		t.Fatalf("%d values were stored, want 2", m.WriteAttempts)
	}
	again := newInstance(m, "first", noon)
	again.Read(ctx)
	again.visit(siteA)
	again.known.write(2, `"known again"`)
	again.later(t, visitInterval)
	if m.WriteAttempts != 4 {
		t.Errorf("%d values were stored, want 2 more", m.WriteAttempts)
	}
	again.later(t, time.Hour)
	if m.WriteAttempts != 4 {
		t.Errorf("%d values were stored, and nothing was new", m.WriteAttempts)
	}
	last := newInstance(m, "first", again.time)
	last.Read(ctx)
	if got := last.lastVisit(siteA); !got.Equal(again.lastVisit(siteA)) || got.IsZero() {
		t.Errorf("the last visit was at %v, want %v", got, again.lastVisit(siteA))
	}
}

func TestVisitsAfterARestart(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first := newInstance(m, "first", noon)
	first.visit(siteA)
	first.writeAll(ctx, false)
	if len(m.Values) != 0 {
		t.Fatalf("%v are written before it is known what is stored", m.Keys())
	}
	first.Read(ctx)
	first.later(t, 0)
	if got := m.Keys(); len(got) != 1 || !strings.HasPrefix(got[0], "robots_guard/v1/first/changes/") {
		t.Fatalf("stored are %v", got)
	}
	for step, want := range []struct {
		after  time.Duration
		visit  bool
		writes int
	}{
		{2 * time.Second, false, 1}, // unchanged
		{2 * time.Second, true, 1},  // written recently
		{visitInterval, false, 2},
		{time.Hour, false, 2},
		{renewInterval, false, 3}, // a renewed value does not expire
		{time.Hour, false, 3},
	} {
		first.time = first.time.Add(want.after)
		if want.visit {
			first.visit(siteA)
		}
		first.later(t, 0)
		if m.WriteAttempts != want.writes {
			t.Errorf("step %d: %d writes, want %d", step, m.WriteAttempts, want.writes)
		}
	}

	again := newInstance(m, "first", first.time)
	again.Read(ctx)
	if got := again.lastVisit(siteA); !got.Equal(first.lastVisit(siteA)) || got.IsZero() {
		t.Errorf("after a restart the last visit was at %v, want %v", got, first.lastVisit(siteA))
	}
	again.later(t, visitInterval)
	if m.WriteAttempts != 3 {
		t.Error("what was read from the storage was written again")
	}
	again.visit(siteA)
	again.writeAll(ctx, true)
	if m.WriteAttempts != 4 {
		t.Error("the last visit is not written at the end")
	}
}

func TestNotesOfSiblings(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first, second := newInstance(m, "first", noon), newInstance(m, "second", noon)
	first.Read(ctx)
	second.Read(ctx)
	first.visit(siteA)
	first.later(t, 0)
	second.Sync(ctx)
	if got := second.lastVisit(siteA); !got.Equal(noon) {
		t.Errorf("the last visit was at %v, as far as a peer knows", got)
	}
	second.later(t, visitInterval)
	if len(m.Values) != 1 {
		t.Errorf("what a peer has stored is stored again: %v", m.Keys())
	}
	first.time = noon.Add(time.Minute)
	first.visit(siteA)
	first.later(t, 0)
	second.time = noon.Add(2 * time.Minute)
	second.Sync(ctx)
	if got := second.lastVisit(siteA); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("the last visit was at %v, as far as a peer knows", got)
	}
	cold := newInstance(m, "third", second.time)
	cold.Read(ctx)
	if got := cold.lastVisit(siteA); got.IsZero() {
		t.Error("one that starts does not know")
	}

	// A dead peer is rarely read, and its values finally expire.
	last := noon.Add(time.Minute)
	second.time = last.Add(maxValueAge - 1)
	second.Read(ctx)
	if len(m.Values) != 1 {
		t.Errorf("left are %v", m.Keys())
	}
	second.time = last.Add(maxValueAge)
	second.Read(ctx)
	if len(m.Values) != 0 {
		t.Errorf("left are %v", m.Keys())
	}
}

func TestNotesSetAside(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	first.visit(siteA)
	first.later(t, 0)
	key := m.Keys()[0]
	future := strings.Replace(string(m.Values[key]), `"format":3`, `"format":9`, 1)
	m.Values[key] = []byte(future)
	for name, value := range map[string]string{"second/changes/y": "noise", "second/changes/x": future} {
		name = "robots_guard/v1/" + name + ".json"
		m.Values[name], m.ModTimes[name] = []byte(value), noon
	}
	again := newInstance(m, "first", noon)
	again.Read(ctx)
	again.logged(t, "stored values cannot be used and are set aside")
	aside := strings.Replace(key, "changes/", "set_aside/changes-", 1)
	if string(m.Values[aside]) != future {
		t.Errorf("it is not kept: %v", m.Keys())
	}
	if n := again.observed.reads(kindChanges, resultSetAside); n != 3 {
		t.Error("it is not counted")
	}
	again.visit(siteA)
	again.later(t, 0)
	if m.Values[key] == nil {
		t.Error("nothing is stored in its place")
	}
}

// TestNotesAreNotLostByAFailure reads stored values before it replaces them.
func TestNotesAreNotLostByAFailure(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	first.visit(siteA)
	first.later(t, 0)

	m.Err = errors.New("no network")
	again := newInstance(m, "first", noon.Add(time.Hour))
	again.Read(ctx)
	again.Sync(ctx)
	m.Err = nil
	again.visit(siteURL)
	again.later(t, 0)
	if m.WriteAttempts != 1 {
		t.Error("it was written before it was read")
	}
	again.Sync(ctx)
	again.later(t, 0)
	cold := newInstance(m, "third", again.time)
	cold.Read(ctx)
	if cold.lastVisit(siteA).IsZero() || cold.lastVisit(siteURL).IsZero() {
		t.Errorf("visits at %v and %v", cold.lastVisit(siteA), cold.lastVisit(siteURL))
	}
}
