package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHold refuses a page that says something else than was measured, and writes it if that
// is asked for.
func TestHold(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	of := func(exact int) *figures {
		return &figures{
			robots:   counts{all: 1601, crawlers: 1000, tools: 500, browsers: 1, judged: 900, spared: 601, exact: exact},
			browsers: counts{all: 20228}, services: served{all: 1438, get: 2},
		}
	}
	if err := os.WriteFile(page, []byte("# Page\n\n"+begin+table(of(1400), of(1300))+end+"\nMore.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := hold(page, table(of(1400), of(1300)), false); err != nil {
		t.Error(err)
	}
	changed := table(of(1401), of(1300))
	if err := hold(page, changed, false); err == nil {
		t.Error("another figure is accepted")
	}
	if err := hold(page, changed, true); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Page\n\n<!--", "| 1,601 robots | are called by a name | 99.9 % | 99.9 % |\n", "product token | 93.4 % | 86.7 % |\n", "are judged by it | 90.0 % |", "| 2 (0.14 %) |", "<!-- end -->\n\nMore.\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if err := hold(filepath.Join("..", "..", "doc.go"), changed, true); err == nil {
		t.Error("a page without a place for it is written")
	}
}
