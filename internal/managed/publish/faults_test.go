package publish

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// life is a list of steps with the published change after each.
var life = []struct {
	step func(s *Store) error
	then string
}{
	{func(s *Store) error { _, _, err := submit(s, "one", "new"); return err }, "new"},
	{func(s *Store) error { _, _, err := submit(s, "one", "asked", "a reason"); return err }, "new/asked:waiting"},
	{func(s *Store) error {
		return update(s, func(state History) (History, *Change, error) { return state.Confirm("", Decision{}, epoch) })
	}, "asked"},
	{func(s *Store) error { _, _, err := submit(s, "one", "newer", "a reason"); return err }, "asked/newer:waiting"},
	{func(s *Store) error {
		return update(s, func(state History) (History, *Change, error) {
			return state.Rollback(SpecID(specOf("new")), Decision{}, epoch)
		})
	}, "new"},
	{func(s *Store) error {
		return update(s, func(state History) (History, *Change, error) {
			return state.Rollback(SpecID(specOf("asked")), Decision{}, epoch)
		})
	}, "asked"},
}

func update(s *Store, step func(History) (History, *Change, error)) error {
	_, _, err := s.Update(context.Background(), nil, step)
	return err
}

// TestEachOperationOfAHistory injects every kind of fault into every storage operation while changes
// are published. The published change is always the complete previous or new one. A repeated step
// succeeds at this instance, at the next process after a crash, or at another instance. The final
// history equals that of a run without a fault. No step waits longer than for a lock.
func TestEachOperationOfAHistory(t *testing.T) {
	t.Parallel()
	clean := &storetest.Faulty{Storage: prepared(t)}
	whole := lives(t, clean)
	faults := storetest.Faults(clean.Ops())
	if len(faults) < 150 || len(whole.Past) < 5 {
		t.Fatalf("%d faults only, at %d operations, of %d changes", len(faults), len(clean.Ops()), whole.ChangeCount)
	}
	for i := range faults {
		f := &faults[i]
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			f.Storage = prepared(t)
			got := lives(t, f)
			if inForce(got) != inForce(whole) || got.ChangeCount != whole.ChangeCount || len(got.Past) != len(whole.Past) {
				t.Errorf("%v: in the end there is %s, %d changes, %d of them over, want %s, %d, %d", f,
					inForce(got), got.ChangeCount, len(got.Past), inForce(whole), whole.ChangeCount, len(whole.Past))
			}
			if took := time.Since(began); took > lockWait+opTimeout {
				t.Errorf("%v: it took %v", f, took)
			}
		})
	}
	t.Logf("%d faults at %d operations", len(faults), len(clean.Ops()))
}

// lives runs all steps, repeats failed steps, and returns the stored history.
func lives(t *testing.T, f *storetest.Faulty) History {
	t.Helper()
	s, other := newStore(f), newStore(f.Storage)
	before := "old"
	for _, l := range life {
		if _, err := other.ReadHistory(t.Context()); err != nil {
			t.Fatalf("%v: the other instance: %v", f, err)
		}
		if err := l.step(s); err != nil {
			f.Storage.ReleaseLocks() // as storages do after an instance was killed
			_, err := newStore(f.Storage).ReadHistory(t.Context())
			damaged := errors.Is(err, ErrDamaged)
			if damaged != (f.Fault == storetest.Torn && f.FailingOp != "" && isState(f.FailingOp)) {
				t.Errorf("%v: %v", f, err)
			}
			if !damaged {
				isIn(t, f, before, l.then)
			}
			if known, _ := s.site.History(); f.Fault != storetest.Unanswered && known.Revision > 0 && named(known) != before {
				t.Errorf("%v: it takes %s for stored", f, named(known))
			}
			if f.Crash {
				s = newStore(f.Storage)
			}
			if damaged {
				s = other // has the stored history
			}
			if err := l.step(s); errors.Is(err, storetest.ErrFault) {
				t.Errorf("%v: again: %v", f, err)
			}
		}
		isIn(t, f, l.then)
		before = l.then
	}
	state, err := newStore(f.Storage).ReadHistory(t.Context())
	if err != nil {
		t.Errorf("%v: %v", f, err)
	}
	return state
}

// isState reports whether an operation concerns the history, and not a spec.
func isState(op string) bool { return strings.Contains(op, "/state.json #") }

// isIn fails the test unless the stored history publishes one of these changes, with all its specs.
func isIn(t *testing.T, f *storetest.Faulty, want ...string) {
	t.Helper()
	s := newStore(f.Storage)
	state, err := s.ReadHistory(t.Context())
	if err != nil {
		t.Errorf("%v: %v", f, err)
	}
	for _, id := range state.SpecIDs() {
		if _, err := s.ReadSpec(t.Context(), id); err != nil {
			t.Errorf("%v: the history names what is not there: %v", f, err)
		}
	}
	if got := named(state); !slices.Contains(want, got) {
		t.Errorf("%v: %s, want %q", f, got, want)
	}
}

// named returns the name of the published change.
func named(s History) string {
	got := inForce(s)
	for _, name := range []string{"old", "new", "asked", "newer"} {
		got = strings.ReplaceAll(got, SpecID(specOf(name)), name)
	}
	return strings.TrimSuffix(got, "/-")
}
