package deploy

import (
	"os"
	"strings"
	"testing"
)

const folder = "../../examples/deploy/"

// file returns a file of the example.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(folder + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// broken returns a text with a mistake that the tests have to detect.
func broken(t *testing.T, text, right, wrong string) string {
	t.Helper()
	if !strings.Contains(text, right) {
		t.Fatalf("the text lacks %q", right)
	}
	return strings.ReplaceAll(text, right, wrong)
}
