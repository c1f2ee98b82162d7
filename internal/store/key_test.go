package store

import (
	"testing"
)

func TestParseKey(t *testing.T) {
	for name, want := range map[string]key{
		"robots_guard/v1/a/policies/0f.json":             {"a", "policies", "0f.json"},
		"robots_guard/v1/a/changes/0f.json":              {"a", "changes", "0f.json"},
		"robots_guard/v1/a/policies/base-0f.json":        {"a", "policies", "base-0f.json"},
		"robots_guard/v1/a/notes/ranges.json":            {"a", "notes", "ranges.json"},
		"robots_guard/v1/a/ledger/0f.ledger":             {"a", "ledger", "0f.ledger"},
		"robots_guard/v1/a/set_aside/policies-0f.json":   {"a", "set_aside", "policies-0f.json"},
		"robots_guard/v1/a/set_aside/ledger-0f.ledger":   {"a", "set_aside", "ledger-0f.ledger"},
		"robots_guard/v1/a/policies":                     {},
		"robots_guard/v1/a/policies/0f.json/x":           {},
		"robots_guard/v1/a/policies/0f.ledger":           {},
		"robots_guard/v1/a/ledger/0f.json":               {},
		"robots_guard/v1/a/others/0f.json":               {},
		"robots_guard/v2/a/policies/0f.json":             {},
		"certificates/robots_guard/v1/a/policies/0.json": {},
	} {
		got, ok := parseKey(name)
		if ok != (want != key{}) || ok && (got != want || got.String() != name) {
			t.Errorf("%s: got %+v, %t; want %+v", name, got, ok, want)
		}
	}
}

// TestKeysStay checks the keys, because other versions have to find stored values.
func TestKeysStay(t *testing.T) {
	for got, want := range map[string]string{
		siteValueName(siteA):      "45e7c1e377a997fae5c9defe59fe90dfb764f8f07142e35230171fa6f181ad2b.json",
		ledgerValueName("a.test"): "52dcf5eeb77a59de2eb7221158d2316a1fce8c55c61ee02f63f378d048feed6c.ledger",
		rangesName:                "ranges.json",
		alertsName:                "acknowledged.json",
		ratesName:                 "rates.json",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
