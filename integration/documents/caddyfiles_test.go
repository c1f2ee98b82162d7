package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// foreign begins a Caddyfile that needs a module of another project. The line informs
// the reader, and the tests skip the Caddyfile.
const foreign = "# needs a module of others: "

// TestDocumentedCaddyfiles adapts each Caddyfile in the documentation. The test puts a
// fragment into a site, and a matcher that uses results of a guard behind a guard.
func TestDocumentedCaddyfiles(t *testing.T) {
	t.Parallel()
	var documents []string
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/guides/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no documents in %s: %v", pattern, err)
		}
		documents = append(documents, found...)
	}
	blocks := regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```")
	shown := 0
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
			shown++
			caddyfile := block[1]
			if strings.HasPrefix(caddyfile, "{\n\tevents {") {
				continue // needs a module that this server lacks; docs.TestEvents runs it
			}
			if strings.HasPrefix(caddyfile, foreign) {
				continue
			}
			if first, _, _ := strings.Cut(caddyfile, "\n"); !strings.HasSuffix(strings.TrimSpace(first), "{") || strings.HasPrefix(first, "robots_guard") {
				caddyfile = "example.com {\n" + caddyfile + "}\n"
			}
			name := filepath.Join(t.TempDir(), "Caddyfile")
			harness.Write(t, name, caddyfile)
			if _, output, code := harness.Command(t, "", "adapt", "--config", name); code != 0 {
				t.Errorf("%s contains an invalid Caddyfile:\n%s\n%s", document, block[1], output)
			}
			if !strings.Contains(caddyfile, "robots_preference") && !strings.Contains(caddyfile, "robots_rate") {
				continue
			}
			if _, output, code := harness.Command(t, "", "validate", "--config", name); code != 0 || strings.Contains(output, "comes before robots_guard") {
				t.Errorf("%s contains a Caddyfile with a matcher that never matches:\n%s\n%s", document, block[1], output)
			}
		}
	}
	if shown == 0 {
		t.Error("no document contains a Caddyfile")
	}
}
