package publish

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// FuzzState applies every step to an arbitrary stored history. The result must be storable and
// readable.
func FuzzState(f *testing.F) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{
		`{"revision":1,"changes":3,"published":{"number":2,"id":"x","origin":"rollback","restores":1},"pending":{"number":3,"id":"y","state":"canary","rollout":{"state":"canary","hosts":["b.test"],"seconds":9}},
			"history":[{"number":1,"id":"x","published":"2026-11-20T00:00:00Z","ended":{"who":"a","at":"2026-11-21T00:00:00Z"}}],"submitted":{"a":{"id":"x","at":"9999-12-31T23:59:59-23:59"}}}`,
		`{"revision":9007199254740991,"history":[{"number":1,"id":"x","parent":"z","made":{"at":"9999-12-31T23:59:59Z"},"ended":{"at":"0000-01-01T00:00:00+23:59"}}]}`,
		`{"revision":1,"pending":{"state":"waiting","rollout":{"state":"shadow","seconds":9223372036854775807}},"published":{"origin":"rollback","restores":-1}}`,
		`{"revision":1,"published":{"origin":"rollback","number":1,"restores":1},"history":[{"number":1,"origin":"rollback","restores":1,"ended":{}},{"number":1,"origin":"rollback","restores":1,"ended":{}}]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		storage := storetest.New()
		s := NewStore(storage, "a.test", NewSiteHistory(), func() time.Time { return now })
		if err := storage.Store(t.Context(), s.historyKey(), []byte(text)); err != nil {
			t.Fatal(err)
		}
		state, err := s.ReadHistory(t.Context())
		if err != nil {
			return
		}
		steps := map[string]func() (History, *Change, error){
			"submit": func() (History, *Change, error) {
				s, changed := state.Submit("a", Change{ID: "z"}, now)
				return s, changed, nil
			},
			"advance": func() (History, *Change, error) { s, changed := state.Advance(now); return s, changed, nil },
		}
		for _, id := range []string{"", "x", "y"} {
			steps["confirm "+id] = func() (History, *Change, error) { return state.Confirm(id, Decision{}, now) }
			steps["stop "+id] = func() (History, *Change, error) { return state.Stop(id, Decision{}, now) }
			steps["promote "+id] = func() (History, *Change, error) { return state.Promote(id, Decision{}, now) }
			steps["rollback "+id] = func() (History, *Change, error) { return state.Rollback(id, Decision{}, now) }
		}
		for name, step := range steps {
			after, _, err := step()
			if err != nil {
				continue
			}
			data, err := json.Marshal(after)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := storage.Store(t.Context(), s.historyKey(), data); err != nil {
				t.Fatal(err)
			}
			if _, err := s.ReadHistory(t.Context()); errors.Is(err, ErrDamaged) {
				t.Fatalf("%s: %v: %s", name, err, data)
			}
		}
	})
}
