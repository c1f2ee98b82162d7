package crawlers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pageFile documents the tables.
var pageFile = filepath.Join("..", "..", "docs", "crawlers.md")

// The lines of the page between which the tables stand.
const (
	pageBegin = "<!-- written by integration/crawlers with -update -->\n"
	pageEnd   = "<!-- end -->\n"
)

// tables returns the part of the page that is written by the test.
func tables() string {
	var b strings.Builder
	table := func(title, words string, reasons []reason) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| crawler | robots.txt, and which targets | why |\n|---|---|---|\n", title, words)
		for _, r := range reasons {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.whom(), r.where(), strings.ReplaceAll(r.why, "|", `\|`))
		}
	}
	table("Blocked, though it obeys", "A crawler that obeys and reads the file right is never blocked. "+
		"These are blocked for what they get wrong:", blockedThoughObeying)
	table("Served, though Google's library forbids it", "That library answers for Google's own crawlers. Others, and clients "+
		"that are no crawlers, are held to less:", servedThoughForbidden)
	table("Blocked, though Google's library allows it", "Other spellings of a forbidden path, which that library does not see through:",
		blockedThoughAllowed)
	b.WriteString("\n")
	return b.String()
}

// checkPage compares the page with the tables, or writes them anew.
func checkPage(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), pageBegin)
	_, after, ended := strings.Cut(rest, pageEnd)
	if !ok || !ended {
		t.Fatalf("%s has no place for the tables", pageFile)
	}
	want := before + pageBegin + tables() + pageEnd + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Errorf("%s is out of date: go test -run TestPage -update", pageFile)
		return
	}
	if err := os.WriteFile(pageFile, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPage needs no crawlers.
func TestPage(t *testing.T) { checkPage(t) }
