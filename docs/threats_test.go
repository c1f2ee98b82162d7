package docs

import (
	"os"
	"strings"
	"testing"
)

// TestEveryDefenceHasATest reads the table of threats.md.
func TestEveryDefenceHasATest(t *testing.T) {
	text, err := os.ReadFile("threats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## What is defended\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 3 || strings.HasPrefix(cells[1], "---") {
			continue
		}
		if rows++; rows > 1 && (len(cells) != 5 || !reference.MatchString(cells[3])) {
			t.Errorf("no test for %.60q", line)
		}
	}
	if rows < 20 {
		t.Errorf("%d rows", rows)
	}
}
