package robotstxt

import "testing"

// TestKeyOfLines checks that moved lines do not change the key of a configuration.
func TestKeyOfLines(t *testing.T) {
	before := Handler{Lists: []string{"a.json"}, Positions: map[string]string{"a.json": "Caddyfile:3"}}
	after := Handler{Lists: []string{"a.json"}, Positions: map[string]string{"a.json": "Caddyfile:4"}}
	other := Handler{Lists: []string{"b.json"}}
	if before.key() != after.key() || before.key() == other.key() {
		t.Errorf("%s, %s and %s", before.key(), after.key(), other.key())
	}
}
