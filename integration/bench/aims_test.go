package main

import (
	"errors"
	"strings"
	"testing"
)

func TestAimsSayWhatIsShown(t *testing.T) {
	for _, test := range []struct {
		name string
		aim  aim
		want string
	}{
		{"below a limit", atMost("x", 1, 2, "1"), "met"},
		{"at a limit", atMost("x", 2, 2, "2"), "met"},
		{"above a limit", atMost("x", 3, 2, "3"), "**missed**: ×1.50 the limit"},
		{"above nothing", atMost("x", 3, 0, "3"), "**missed**"},
		{"the whole interval is above the limit", shown("x", estimate{0.991, 0.995, 1, false}, 0.99), "met"},
		{"the whole interval is below the limit", shown("x", estimate{0.96, 0.97, 0.98, false}, 0.99), "**missed** by 2.0 %"},
		{"the interval contains the limit", shown("x", estimate{0.98, 0.99, 1, false}, 0.99), "open: the interval holds 0.99"},
		{"too few rounds", shown("x", estimate{0.96, 0.97, 0.98, true}, 0.99), "open: too few rounds"},
		{"nothing was measured", shown("x", estimate{}, 0.99), "open"},
	} {
		if test.aim.outcome != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.aim.outcome, test.want)
		}
	}
}

// TestOverIsByRounds checks that over compares only measurements of the same round.
func TestOverIsByRounds(t *testing.T) {
	slow, fast := result{rounds: []float64{12, 103, 22, 54, 33}}, result{rounds: []float64{10, 100, 20, 50, 30}}
	if got, want := slow.over(&fast), (spread{2, 3, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAFailureIsAnError checks that run returns errors and panics as an error.
func TestAFailureIsAnError(t *testing.T) {
	bad := errors.New("bad")
	for name, render := range map[string]func(effort, *google) (outcome, error){
		"an error": func(effort, *google) (outcome, error) { return outcome{}, bad },
		"a panic":  func(effort, *google) (outcome, error) { panic(bad) },
	} {
		if err := (section{name: "x", render: render}).run(effort{}, nil, options{}); err == nil || !strings.Contains(err.Error(), "bad") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
