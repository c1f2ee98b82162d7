package botauth

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	names, texts := map[string]bool{}, map[string]bool{}
	for r := range numReasons {
		names[r.String()], texts[r.Explain()] = true, true
		if next := r.Advice(); len(next) < 10 || !strings.HasSuffix(next, ".") || next[:1] != strings.ToUpper(next[:1]) || strings.HasSuffix(r.Explain(), ".") {
			t.Errorf("%v: %q and %q", r, r.Explain(), next)
		}
		if r.State() >= numStates {
			t.Errorf("%v has no state", r)
		}
	}
	if len(names) != int(numReasons) || len(texts) != int(numReasons) || names[""] || texts[""] {
		t.Error("two reasons have the same name or text")
	}
	for s, want := range map[State]string{None: "none", Unknown: "unknown", Valid: "valid", Invalid: "invalid", numStates: "out of range"} {
		if s.String() != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
	const want = "the nonce was used before (agent https://bot.example, key k)"
	if got := (Result{State: Invalid, Reason: Replayed, Agent: testAgent, KeyID: "k"}).Explain(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
