package reload

import (
	"errors"
	"testing"
)

// TestSettings releases settings in any order. The latest settings that are in use apply, and nothing stays
// in memory.
func TestSettings(t *testing.T) {
	var s ActiveSettings[string]
	applied := ""
	apply := func(value string) error {
		if value == "bad" {
			return errors.New("it cannot be used")
		}
		applied = value
		return nil
	}
	use := func(value string) func() error {
		t.Helper()
		release, err := s.Apply(value, apply)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	release := func(release func() error, want string) {
		t.Helper()
		if err := release(); err != nil || applied != want {
			t.Errorf("%q applies, want %q; %v", applied, want, err)
		}
	}
	first, second, third := use("first"), use("second"), use("third")
	bad, err := s.Apply("bad", apply)
	if err == nil || applied != "third" {
		t.Errorf("%q applies after settings that cannot be used; %v", applied, err)
	}
	release(bad, "third")
	release(second, "third")
	release(third, "first")
	release(third, "first") // again
	release(first, "")
	if len(s.activeSettings) != 0 || s.ApplyCount() != 3 {
		t.Errorf("%d settings are active, %d were used", len(s.activeSettings), s.ApplyCount())
	}
}
