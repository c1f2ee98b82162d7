package docs

import (
	"os"
	"strings"
	"testing"
)

// TestEveryDefenceHasATest reads the table of attacks.
func TestEveryDefenceHasATest(t *testing.T) {
	text, err := os.ReadFile("proof.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Threats\n")
	eachRowNamesTest(t, table, 3, 3, 20)
}

// TestEveryPromiseHasATest reads the table of promises.
func TestEveryPromiseHasATest(t *testing.T) {
	text, err := os.ReadFile("proof.md")
	if err != nil {
		t.Fatal(err)
	}
	eachRowNamesTest(t, string(text), 5, 2, 8)
}

// eachRowNamesTest fails unless the rows of the first table in a text have so many cells,
// and a test in that of this number.
func eachRowNamesTest(t *testing.T, text string, cells, cell, least int) {
	t.Helper()
	text, _, _ = strings.Cut(text, "\n## ")
	rows := 0
	for line := range strings.Lines(text) {
		has := strings.Split(strings.TrimSpace(line), "|")
		if len(has) < 3 || strings.HasPrefix(has[1], "---") {
			continue
		}
		if rows++; rows > 1 && (len(has) != cells+2 || !reference.MatchString(has[cell])) {
			t.Errorf("no test for %.60q", line)
		}
	}
	if rows < least {
		t.Errorf("%d rows", rows)
	}
}
