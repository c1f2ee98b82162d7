package robotstxt

import "testing"

// TestKeyOfLines checks that moved lines do not change the key of a configuration.
func TestKeyOfLines(t *testing.T) {
	before := Handler{ListSources: []string{"a.json"}, Positions: map[string]string{"a.json": "Caddyfile:3"}}
	after := Handler{ListSources: []string{"a.json"}, Positions: map[string]string{"a.json": "Caddyfile:4"}}
	other := Handler{ListSources: []string{"b.json"}}
	if before.configKey() != after.configKey() || before.configKey() == other.configKey() {
		t.Errorf("%s, %s and %s", before.configKey(), after.configKey(), other.configKey())
	}
}
