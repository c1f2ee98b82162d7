package store

import (
	"errors"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestStorageAlerts checks that acknowledgements survive a restart, and reach another instance within
// seconds.
func TestStorageAlerts(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	stored := key{"first", kindNotes, alertsName}.String()
	first, second := newInstance(m, "first", noon), newInstance(m, "second", noon)
	first.Read(ctx)
	second.Read(ctx)
	first.Write(ctx)
	if _, err := m.Load(ctx, stored); err == nil {
		t.Fatal("nothing is stored before anybody knows something")
	}
	for revision, text := range []string{"", `{"known":1}`, `{"known":2}`} {
		first.known.write(uint64(revision), text)
		first.Write(ctx)
		m.Now = m.Now.Add(time.Minute)
		first.time, second.time = m.Now, m.Now
		second.Sync(ctx)
		restarted := newInstance(m, "first", m.Now)
		restarted.Read(ctx)
		if second.known.read() != text || restarted.known.read() != text {
			t.Errorf("the other knows %q, and it does after a restart %q, want %q", second.known.read(), restarted.known.read(), text)
		}
	}
	writes := first.observed.writes(kindNotes, "success")
	first.Write(ctx)
	if first.observed.writes(kindNotes, "success") != writes {
		t.Error("what is not new is written")
	}

	m.Values[stored] = []byte("noise")
	damaged := newInstance(m, "first", m.Now)
	damaged.Read(ctx)
	damaged.logged(t, "stored values cannot be used and are set aside")
}

// TestTrouble checks the start of a write failure.
func TestTrouble(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	i.Read(ctx)
	i.memory.runningStores.Add(1)
	trouble := func(want time.Time) {
		t.Helper()
		if since, err := i.memory.WriteFailure(); !since.Equal(want) || (err == nil) != want.IsZero() {
			t.Errorf("since %v: %v, want %v", since, err, want)
		}
	}
	m.Err = errors.New("no space left")
	trouble(time.Time{})
	i.known.write(1, "{}")
	i.Write(ctx)
	i.time = noon.Add(time.Hour)
	i.known.write(2, "{}")
	i.Write(ctx)
	trouble(noon)
	i.memory.runningStores.Add(-1)
	trouble(time.Time{}) // no store runs
	i.memory.runningStores.Add(1)
	m.Err = nil
	i.Write(ctx)
	i.time = noon.Add(2 * time.Hour)
	i.Write(ctx)
	trouble(time.Time{})

	m.Err = errors.New("no space left")
	i.time = noon.Add(3 * time.Hour)
	for _, data := range [][]byte{[]byte("{}"), nil} { // no unsaved value remains
		err := i.writeValue(ctx, key{instance: "first", kind: kindNotes}, pendingWrite{encode: func() ([]byte, error) { return data, nil }})
		if (err == nil) != (data == nil) {
			t.Errorf("%s: %v", data, err)
		}
		if data != nil {
			trouble(i.time)
		}
	}
	trouble(time.Time{})
}

// TestNothingAcknowledged does not renew an empty value, which then expires.
func TestNothingAcknowledged(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	first.known.write(1, "{}")
	first.Write(ctx)
	again := newInstance(m, "first", noon)
	again.Read(ctx)
	for _, tc := range []struct {
		revision uint64
		renewed  int
	}{{0, 0}, {1, 1}} {
		again.time = again.time.Add(2 * renewInterval)
		again.known.write(tc.revision, "{}")
		again.Write(ctx)
		if n := again.observed.writes(kindNotes, "success"); n != tc.renewed {
			t.Errorf("with revision %d it is written %v times, want %v", tc.revision, n, tc.renewed)
		}
	}
}
