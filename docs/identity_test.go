package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// TestReasonsOfSignatures holds the table to what the code says.
func TestReasonsOfSignatures(t *testing.T) {
	text, err := os.ReadFile("identity.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range botauth.Reasons() {
		if row := fmt.Sprintf("\n| `%s` | %s | %s |\n", reason, reason.State(), reason.Explain()); !strings.Contains(string(text), row) {
			t.Errorf("identity.md lacks the row%s", row)
		}
	}
}
