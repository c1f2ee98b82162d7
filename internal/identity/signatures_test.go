package identity

import (
	"errors"
	"slices"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// TestRecordDirectoryFetch logs the first failure and the first success after a failure, and counts each
// fetch.
func TestRecordDirectoryFetch(t *testing.T) {
	const agent = "https://acme.example"
	core, logs := observer.New(zap.InfoLevel)
	failed, counted := errors.New("failed"), map[string]int{}
	s := &signatureVerifier{lastResults: make(map[string]string), logger: zap.New(core), onDirectoryFetch: func(result string) { counted[result]++ }}
	var err error
	if s.Verifier, err = botauth.New(botauth.Options{Agents: map[string]string{agent: "Acme", "https://other.example": "Other"}}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, err := range []error{failed, failed, nil, nil, failed} {
		s.recordDirectoryFetch(agent, err)
	}
	var levels []string
	for _, line := range logs.All() {
		fields := line.ContextMap()
		if levels = append(levels, line.Level.String()); fields["agent"] != agent || fields["operator"] != "Acme" {
			t.Errorf("%s: %v", line.Message, fields)
		}
	}
	if !slices.Equal(levels, []string{"warn", "info", "warn"}) || counted[directoryFailed] != 3 || counted[directoryRead] != 2 {
		t.Errorf("logged %q, counted %v", levels, counted)
	}
}
