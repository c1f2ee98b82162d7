package main

import (
	"errors"
	"strings"
	"testing"
)

// TestBroken tells requests without an answer by cause, and makes a problem of those that
// have none.
func TestBroken(t *testing.T) {
	lost := errors.New("connection reset")
	for _, tc := range []struct {
		name    string
		because []cause
		want    string // in the table
		problem bool
	}{
		{"none", nil, "| 0, 0, 0 |", false},
		{"with a cause", []cause{killed, killed, reloaded}, "| 2, 1, 0 |", false},
		{"without", []cause{killed, otherwise}, "| 1, 0, 1 |", true},
	} {
		tr := &traffic{sent: 1000}
		for _, because := range tc.because {
			tr.broken.add(because, "A", 2, lost)
		}
		var r result
		r.finish(tr)
		if text := r.String(); !strings.Contains(text, tc.want) || strings.Contains(text, lost.Error()) != tc.problem || (len(r.problems) > 0) != tc.problem {
			t.Errorf("%s: want %s in\n%s", tc.name, tc.want, text)
		}
	}
}
