package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// TestReasonsOfSignatures compares the table of states and reasons with the code.
func TestReasonsOfSignatures(t *testing.T) {
	text, err := os.ReadFile("identity.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range botauth.Reasons() {
		row := regexp.MustCompile(`(?m)^\| ` + reason.State().String() + " \\| `.*$").FindString(string(text))
		if !strings.Contains(row, "`"+reason.String()+"`") {
			t.Errorf("identity.md lacks %s in the row of the state %s", reason, reason.State())
		}
	}
}
