package store

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestLedgerStoreWithoutRequests stores changes of a site without a new request. Examples are a slow
// response, a person's action, and the mode.
func TestLedgerStoreWithoutRequests(t *testing.T) {
	for what, happens := range map[string]func(*instance){
		"an answer": func(i *instance) {
			i.counted.RecordResponse(&ledger.Response{At: i.time, Site: "a.test", Token: "GPTBot", Class: uaident.AITraining, Kind: responseaudit.KindAllowed, Status: responseaudit.StatusSuccess})
		},
		"a visit":                       func(i *instance) { i.counted.RecordAssistantVisit("a.test", 0, i.time) },
		"a visit where nobody else was": func(i *instance) { i.counted.RecordAssistantVisit("b.test", 0, i.time) },
		"the mode":                      func(i *instance) { i.counted.RecordModeChange("a.test", "enforce", i.time) },
		"a request at once":             func(i *instance) { i.ask("a.test", 1) },
	} {
		ctx, m := t.Context(), storetest.New()
		m.Now = noon
		i := newInstance(m, "first", noon)
		i.readLedger(ctx)
		i.ask("a.test", 3)
		i.counted.RecordModeChange("a.test", "monitor", noon)
		i.writeLedger(ctx)
		writes := m.WriteAttempts
		happens(i)
		i.writeLedger(ctx)
		if m.WriteAttempts != writes+1 {
			t.Errorf("%s: %d writes, want 1", what, m.WriteAttempts-writes)
		}
		if i.writeLedger(ctx); m.WriteAttempts != writes+1 {
			t.Errorf("%s: it is written again", what)
		}
	}
}
