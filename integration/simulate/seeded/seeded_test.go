package main

import (
	"os"
	"strings"
	"testing"
)

// TestMistakes fails where a mistake cannot be put into its file any more, or the page
// does not tell of it.
func TestMistakes(t *testing.T) {
	t.Chdir("../../..")
	page, err := os.ReadFile("docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mistakes {
		if _, err := m.apply(); err != nil {
			t.Errorf("%s: %v", m.what, err)
		}
		if !strings.Contains(string(page), "| "+m.what+" | `"+m.file+"` | ") {
			t.Errorf("docs/simulation.md does not have this: %s; run go run ./integration/simulate/seeded -write", m.what)
		}
	}
}
