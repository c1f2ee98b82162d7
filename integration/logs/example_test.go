package logs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// example returns a file of the example.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/logs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// script returns a script of the example. It uses the tested binary and the test's
// robots.txt directory.
func script(t *testing.T, name, robots string) string {
	t.Helper()
	text := example(t, name)
	for usual, real := range map[string]string{"caddy robots-guard explain": harness.Binary(t) + " robots-guard explain", "/etc/robots-guard/robots": robots} {
		if strings.Count(text, usual) != 1 {
			t.Fatalf("%s does not contain exactly one %s", name, usual)
		}
		text = strings.Replace(text, usual, real, 1)
	}
	return text
}

// statements returns the statements of an SQL file.
func statements(text string) (all []string) {
	text = regexp.MustCompile(`(?m)^--.*$`).ReplaceAllString(text, "")
	for statement := range strings.SplitSeq(text, ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			all = append(all, statement)
		}
	}
	return all
}
