package responseaudit

import (
	"os"
	"strings"
	"testing"
)

// TestDocument keeps the tables of docs/parity.md in step with what is counted.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/parity.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range assistants {
		if row := "| `" + a.Name + "` | " + strings.Join(a.Hosts, ", ") + " | " + a.Operator + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/parity.md lacks %s", row)
		}
	}
	for what := range thresholds {
		if !strings.Contains(string(text), "| `"+string(what)+"` |") {
			t.Errorf("docs/parity.md lacks %s", what)
		}
	}
	for status := range NumStatusClasses {
		if !strings.Contains(string(text), "`"+status.String()+"`") {
			t.Errorf("docs/parity.md lacks %s", status)
		}
	}
}
