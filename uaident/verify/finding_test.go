package verify

import (
	"strings"
	"testing"
)

// TestWords checks the names, which are part of configurations, logs and metrics.
func TestWords(t *testing.T) {
	var states, methods []string
	for _, s := range States() {
		states = append(states, s.String())
	}
	for m := range numMethods {
		methods = append(methods, m.String())
	}
	if got, want := strings.Join(states, " "), "claimed unknown verified spoofed"; got != want || numStates.String() != "invalid" {
		t.Errorf("states %q and %q, want %q and invalid", got, numStates, want)
	}
	if got, want := strings.Join(methods, " "), "none ranges rdns web_bot_auth"; got != want || numMethods.String() != "invalid" {
		t.Errorf("methods %q and %q, want %q and invalid", got, numMethods, want)
	}
}
