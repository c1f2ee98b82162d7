package deploy

import (
	"os"
	"strings"
	"testing"
)

const folder = "../../examples/deploy/"

// file is a file of the example.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(folder + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// broken is a text with a mistake in it, which has to be noticed.
func broken(t *testing.T, text, right, wrong string) string {
	t.Helper()
	if !strings.Contains(text, right) {
		t.Fatalf("there is no %q", right)
	}
	return strings.ReplaceAll(text, right, wrong)
}
