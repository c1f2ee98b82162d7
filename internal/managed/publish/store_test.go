package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

func specOf(name string) []byte { return []byte(`{"lines":["` + name + `"]}`) }

func submit(s *Store, instance, name string, reasons ...string) (History, State, error) {
	spec := specOf(name)
	after, changed, err := s.Update(context.Background(), spec, func(state History) (History, *Change, error) {
		after, changed := state.Submit(instance, Change{ID: SpecID(spec), Reasons: reasons}, s.now())
		return after, changed, nil
	})
	return after, stateOf(changed), err
}

func newStore(storage Storage) *Store {
	return NewStore(storage, "a.test", NewSiteHistory(), func() time.Time { return epoch })
}

// isWhole fails the test if the stored history is incomplete.
func isWhole(t *testing.T, storage *storetest.Storage, published ...string) {
	t.Helper()
	s := newStore(storage)
	state, err := s.ReadHistory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range state.SpecIDs() {
		if _, err := s.ReadSpec(t.Context(), id); err != nil {
			t.Errorf("the history names what is not there: %v", err)
		}
	}
	if got := state.PublishedID(); !slices.ContainsFunc(published, func(name string) bool { return got == SpecID(specOf(name)) }) {
		t.Errorf("published is %s, none of %v", got, published)
	}
	if want := len(state.Past) + 1; state.ChangeCount != want {
		t.Errorf("%d changes of which %d are known", state.ChangeCount, want)
	}
	for i, c := range state.Past {
		if c.EndedBy == nil || i > 0 && c.Number >= state.Past[i-1].Number {
			t.Errorf("%+v is not over, or out of order", c)
		}
	}
}

// prepared returns a storage with a change, and with an unused spec from a crash.
func prepared(t *testing.T) *storetest.Storage {
	storage := storetest.New()
	s := newStore(storage)
	if _, _, err := submit(s, "one", "old"); err != nil {
		t.Fatal(err)
	}
	if err := storage.Store(t.Context(), s.specKey(SpecID(specOf("lost"))), specOf("lost")); err != nil {
		t.Fatal(err)
	}
	return storage
}

// TestManyPublishAtOnce publishes from several instances at once. The history has each change once,
// one change is published, and no write is lost.
func TestManyPublishAtOnce(t *testing.T) {
	t.Parallel()
	for _, instances := range []int{2, 3} {
		t.Run(fmt.Sprint(instances), func(t *testing.T) {
			storage := storetest.New()
			const each = 20
			var wg sync.WaitGroup
			for i := range instances {
				s := newStore(storage)
				wg.Go(func() {
					for n := range each {
						if _, news, err := submit(s, fmt.Sprint("instance", i), fmt.Sprint(i, " ", n)); err != nil || news != Published {
							t.Errorf("%q, %v", news, err)
						}
					}
				})
			}
			wg.Wait()
			s := newStore(storage)
			state, err := s.ReadHistory(t.Context())
			if err != nil || state.ChangeCount != instances*each || int(state.Revision) != instances*each || len(state.SpecIDs()) != instances*each {
				t.Fatalf("%v: %d changes, revision %d, %d specs", err, state.ChangeCount, state.Revision, len(state.SpecIDs()))
			}
			for i, c := range state.Past {
				after := state.Published
				if i > 0 {
					after = &state.Past[i-1]
				}
				if after.Parent != c.ID || c.State != Superseded {
					t.Fatalf("%s follows %s, but is made of %s", after.ID, c.ID, after.Parent)
				}
			}
		})
	}
}

// TestDamagedState moves a damaged history aside and reports it. The history in memory stays.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	for _, knows := range []bool{true, false} {
		storage := storetest.New()
		s := newStore(storage)
		if _, _, err := submit(s, "one", "old"); err != nil {
			t.Fatal(err)
		}
		if !knows {
			s = newStore(storage)
		}
		damaged := []byte(`{"published": {"id"`)
		if err := storage.Store(t.Context(), s.historyKey(), damaged); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadHistory(t.Context()); !errors.Is(err, ErrDamaged) {
			t.Errorf("read: %v", err)
		}
		told := ""
		s.OnDamaged = func(key string, err error) { told = key }
		state, news, err := submit(s, "one", "new")
		if err != nil || news != Published || (len(state.Past) == 1) != knows {
			t.Errorf("knows=%v: %q, %v, %d changes before", knows, news, err, len(state.Past))
		}
		if kept, err := storage.Load(t.Context(), told); err != nil || string(kept) != string(damaged) {
			t.Errorf("kept aside at %q: %q, %v", told, kept, err)
		}
	}
}

// TestLostState writes a lost history and its rules again from memory.
func TestLostState(t *testing.T) {
	t.Parallel()
	storage := storetest.New()
	s := newStore(storage)
	if _, _, err := submit(s, "one", "old"); err != nil {
		t.Fatal(err)
	}
	clear(storage.Values)
	if _, _, err := submit(s, "one", "new", "a reason"); err != nil {
		t.Fatal(err)
	}
	again := newStore(storage)
	state, err := again.ReadHistory(t.Context())
	if err != nil || inForce(state) != SpecID(specOf("old"))+"/"+SpecID(specOf("new"))+":waiting" {
		t.Fatalf("%v: %s", err, inForce(state))
	}
	if spec, err := again.ReadSpec(t.Context(), state.PublishedID()); err != nil || string(spec) != string(specOf("old")) {
		t.Errorf("got %q, %v", spec, err)
	}
}

// TestDamagedSpec rejects a spec that does not match its ID.
func TestDamagedSpec(t *testing.T) {
	t.Parallel()
	storage := prepared(t)
	s := newStore(storage)
	id := SpecID(specOf("old"))
	if err := storage.Store(t.Context(), s.specKey(id), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadSpec(t.Context(), id); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

// TestSlowStorage does not write after the lock may have become stale.
func TestSlowStorage(t *testing.T) {
	t.Parallel()
	storage := prepared(t)
	s := newStore(storage)
	now := epoch
	s.now = func() time.Time { now = now.Add(lockIsSafe); return now }
	if _, _, err := submit(s, "one", "new"); err == nil || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("got %v", err)
	}
	isWhole(t, storage, "old")
}

// TestSilentStorage checks the maximum waits for the storage.
func TestSilentStorage(t *testing.T) {
	t.Parallel()
	storage := prepared(t)
	first, second := newStore(storage), newStore(storage)
	if err := storage.Lock(t.Context(), strings.ReplaceAll(first.directory, "/", "_")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := second.Update(ctx, nil, func(s History) (History, *Change, error) { return s, nil, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNothingIsWrittenForNothing checks that a step without a change writes nothing.
func TestNothingIsWrittenForNothing(t *testing.T) {
	t.Parallel()
	storage := prepared(t)
	writes := storage.WriteAttempts
	if _, news, err := submit(newStore(storage), "one", "old"); news != "" || err != nil || storage.WriteAttempts != writes {
		t.Errorf("%q, %v, %d writes", news, err, storage.WriteAttempts-writes)
	}
	if _, _, err := newStore(storage).Update(t.Context(), nil, func(s History) (History, *Change, error) { return s.Confirm("", Decision{}, epoch) }); !errors.Is(err, ErrNonePending) || storage.WriteAttempts != writes {
		t.Errorf("%v, %d writes", err, storage.WriteAttempts-writes)
	}
}

// TestStateIsBounded limits the stored history to a few megabytes.
func TestStateIsBounded(t *testing.T) {
	t.Parallel()
	var s History
	line := strings.Repeat("x", MaxText)
	lines := slices.Repeat([]string{line}, 100)
	for i := range maxChanges + 2 {
		by := Decision{User: line, Reason: line, Ticket: line}
		s, _ = s.Submit(fmt.Sprint(i), Change{ID: fmt.Sprint(i), Submitted: by, Difference: lines, Reasons: lines}, epoch)
		s, _, _ = s.Confirm("", by, epoch)
	}
	data, err := json.Marshal(s)
	if err != nil || len(data) > 20<<20 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if objects, arrays := jsontext.CountContainers(data); objects > maxStateObjects/2 || arrays > maxStateArrays/2 {
		t.Errorf("%d objects and %d arrays", objects, arrays)
	}
}

// TestBegin checks that only the latest configuration submits.
func TestBegin(t *testing.T) {
	t.Parallel()
	s := NewSiteHistory()
	first := s.BecomeLatest()
	if !first() {
		t.Error("the only one is not the latest")
	}
	if second := s.BecomeLatest(); first() || !second() {
		t.Error("the first is still the latest")
	}
}
