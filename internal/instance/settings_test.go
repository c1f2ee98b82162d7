package lease

import (
	"errors"
	"testing"
)

// TestLeases has the last of those that still run decide, and leaves nothing
// behind.
func TestLeases(t *testing.T) {
	var l Requests[string]
	used := ""
	apply := func(what string) error {
		if what == "bad" {
			return errors.New("it cannot be used")
		}
		used = what
		return nil
	}
	add := func(what string) uint64 {
		t.Helper()
		id, err := l.Add(what, apply)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	release := func(id uint64, want string) {
		t.Helper()
		if err := l.Release(id, apply); err != nil || used != want {
			t.Errorf("%q is used, want %q; %v", used, want, err)
		}
	}
	first, second, third := add("first"), add("second"), add("third")
	if _, err := l.Add("bad", apply); err == nil || used != "third" {
		t.Errorf("%q is used after one that cannot be; %v", used, err)
	}
	release(second, "third")
	release(third, "first")
	release(third, "first") // it is not held any more
	release(first, "")
	if len(l.active) != 0 || l.LastID() != 3 {
		t.Errorf("%d are held, %d were given", len(l.active), l.LastID())
	}
}
