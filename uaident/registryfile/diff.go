package registryfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Change is a difference between two registries: a crawler that was added, removed or changed.
type Change struct {
	Token string `json:"token"`
	// Kind is "added", "removed" or "changed".
	Kind string `json:"kind"`
	// Fields are the different fields of a changed crawler.
	Fields []FieldChange `json:"fields,omitempty"`
}

// FieldChange is a changed field with its JSON values before and after the change. A field that is
// missing has the value "".
type FieldChange struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// These are the values of [Change.Kind].
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Diff returns the differences between two lists of registry entries, sorted by token.
func Diff(before, after []uaident.Crawler) (changes []Change) {
	oldByName := make(map[string]*uaident.Crawler, len(before))
	for i := range before {
		oldByName[entryKey(&before[i])] = &before[i]
	}
	for i := range after {
		c := &after[i]
		old := oldByName[entryKey(c)]
		delete(oldByName, entryKey(c))
		if old == nil {
			changes = append(changes, Change{Token: c.Token, Kind: Added})
		} else if fields := diffFields(old, c); len(fields) > 0 {
			changes = append(changes, Change{Token: c.Token, Kind: Changed, Fields: fields})
		}
	}
	for _, old := range oldByName {
		changes = append(changes, Change{Token: old.Token, Kind: Removed})
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Token), strings.ToLower(b.Token)), strings.Compare(a.Token, b.Token))
	})
	return changes
}

// entryKey returns the same key for two entries of one crawler: the token, normally in lower case.
func entryKey(c *uaident.Crawler) string {
	if c.ExactCase {
		return c.Token
	}
	return strings.ToLower(c.Token)
}

// diffFields returns the fields in which the JSON of two entries differs.
func diffFields(before, after *uaident.Crawler) (changes []FieldChange) {
	old, now := decodeFields(before), decodeFields(after)
	for _, field := range entryFields {
		if !bytes.Equal(old[field], now[field]) {
			changes = append(changes, FieldChange{Field: field, Before: string(old[field]), After: string(now[field])})
		}
	}
	return changes
}

// decodeFields returns the JSON values of an entry by field name.
func decodeFields(c *uaident.Crawler) map[string]json.RawMessage {
	fields := make(map[string]json.RawMessage)
	_ = json.Unmarshal(AppendEntry(nil, c), &fields) // This is always valid JSON.
	return fields
}
