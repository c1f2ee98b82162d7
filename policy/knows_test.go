package policy

import (
	"crypto/sha256"
	"testing"
	"time"
)

// TestKnows asks for texts as they are known at a time: the current one and those before
// it, if they had not ended long before.
func TestKnows(t *testing.T) {
	s := stateAfter(step{0, version(1)}, step{time.Hour, version(2)}, step{2 * time.Hour, version(3)})
	for _, tc := range []struct {
		name  string
		text  int
		at    time.Duration
		knows bool
	}{
		{"the current one", 3, 9 * time.Hour, true},
		{"the one before, while it was current", 2, 90 * time.Minute, true},
		{"the one before, as it ended by a clock that is late", 2, 2*time.Hour + clockSkew, true},
		{"the one before, long after it ended", 2, 2*time.Hour + clockSkew + 1, false},
		{"an older one, while it was current", 1, time.Minute, true},
		{"an older one, while the next was current", 1, 90 * time.Minute, false},
		{"another", 4, time.Hour, false},
	} {
		hash := sha256.Sum256(version(tc.text).Body)
		if got := s.KnowsAt(hash, epoch.Add(tc.at)); got != tc.knows {
			t.Errorf("%s: known %t", tc.name, got)
		}
	}
	if none := (&State{}); none.KnowsAt([sha256.Size]byte{}, epoch) {
		t.Error("a text is known where none was read")
	}
}
