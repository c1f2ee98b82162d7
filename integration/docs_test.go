package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCaddyfiles adapts each Caddyfile that a document shows. Pieces
// of one stand in a site.
func TestDocumentedCaddyfiles(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("../docs/*.md")
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents: %v", err)
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
			if first, _, _ := strings.Cut(caddyfile, "\n"); !strings.HasSuffix(strings.TrimSpace(first), "{") || strings.HasPrefix(first, "robots_guard") {
				caddyfile = "example.com {\n" + caddyfile + "}\n"
			}
			name := filepath.Join(t.TempDir(), "Caddyfile")
			write(t, name, caddyfile)
			if _, output, code := command(t, "", "adapt", "--config", name); code != 0 {
				t.Errorf("%s shows a Caddyfile that cannot be used:\n%s\n%s", document, block[1], output)
			}
		}
	}
	if shown == 0 {
		t.Error("no document shows a Caddyfile")
	}
}
