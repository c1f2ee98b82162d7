package publish

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestHostileState reads valid JSON that no Store has written. Every history is damaged or usable,
// and nothing panics.
func TestHostileState(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		state   string
		damaged bool
	}{
		{`{"revision":1,"history":[{"number":1,"origin":"rules","state":"rejected"}]}`, true},
		{`{"revision":1,"history":[{"number":1,"published":"2020-01-01T00:00:00Z"},{}]}`, true},
		{`{"revision":9223372036854775807}`, true},
		{`{"revision":1,"changes":9223372036854775807}`, true},
		{`{"revision":1,"changes":-1}`, true},
		{`{"revision":1,"bases":[` + strings.Repeat("null,", maxStateObjects) + `null]}`, true},
		{`{"revision":1,"bases":[` + strings.Repeat("{},", maxStateObjects) + `{}]}`, true},
		{`{"revision":1,"pending":{"rollout":{"hosts":[` + strings.Repeat("[],", maxStateArrays) + `"a"]}}}`, true},
		{`{"revision":1,"bases":[{"number":1,"id":"x","stage":"confirmed","sites":["https://a.test"]}]}`, false},
		{`{"revision":1,"bases":[{}],"pending":{"state":"x"},"published":{}}`, false},
		{`{"revision":1,"pending":{"state":"canary","rollout":{"seconds":-3}},"submitted":{"a":{}}}`, false},
	} {
		storage := storetest.New()
		s := NewStore(storage, "a.test", NewSiteHistory(), time.Now)
		if err := storage.Store(t.Context(), s.historyKey(), []byte(tc.state)); err != nil {
			t.Fatal(err)
		}
		state, err := s.ReadHistory(t.Context())
		if errors.Is(err, ErrDamaged) != tc.damaged {
			t.Errorf("%.60s: %v", tc.state, err)
		}
		state.Submit("a", Change{ID: "z"}, now)
		state.Advance(now)
		for _, id := range []string{"", "x", "y"} {
			_, _, _ = state.Confirm(id, Decision{}, now)
			_, _, _ = state.Stop(id, Decision{}, now)
			_, _, _ = state.Promote(id, Decision{}, now)
			_, _, _ = state.Rollback(id, Decision{}, now)
		}
	}
}

// TestHostileID uses invalid spec IDs, which must not lead to other storage keys.
func TestHostileID(t *testing.T) {
	storage := storetest.New()
	s := NewStore(storage, "a.test", NewSiteHistory(), time.Now)
	for _, id := range []string{"", "x", "../state", "../../../../certificates/x", SpecID(nil)[1:], SpecID(nil) + "0", strings.ToUpper(SpecID([]byte("x"))), "0123456789abcde/"} {
		if err := storage.Store(t.Context(), s.specKey(id), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadSpec(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
