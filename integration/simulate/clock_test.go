package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"time"
)

// All instances of a world live by one clock. That of an instance is ahead of the
// others by its skew in that its times go into the storage so much later than it
// has them, and those of others come to it so much earlier: which is all that one
// instance knows of another.

var storedTime = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`)

// shifted returns a value of the storage with all its times so much later. The
// counts of the ledger, which is no JSON, stay as they are.
func shifted(value []byte, by time.Duration) []byte {
	var envelope map[string]json.RawMessage
	if by == 0 || json.Unmarshal(value, &envelope) != nil {
		return value
	}
	shift := func(text []byte) []byte {
		return storedTime.ReplaceAllFunc(text, func(quoted []byte) []byte {
			at, err := time.Parse(time.RFC3339Nano, string(bytes.Trim(quoted, `"`)))
			if err != nil || at.Year() == 1 { // the zero time
				return quoted
			}
			return []byte(`"` + at.Add(by).UTC().Format(time.RFC3339Nano) + `"`)
		})
	}
	for name, text := range envelope {
		envelope[name] = shift(text)
	}
	for _, name := range []string{"policy", "content"} {
		if text, ok := envelope[name]; ok {
			sum := sha256.Sum256(text)
			envelope["sha256"] = []byte(`"` + hex.EncodeToString(sum[:]) + `"`)
		}
	}
	text, err := json.Marshal(envelope)
	if err != nil {
		panic(err) // which it was before
	}
	return text
}
