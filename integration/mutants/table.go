package main

import (
	"fmt"
	"os"
	"strings"
)

// row is what a page tells of a package.
func (r result) row() string {
	return fmt.Sprintf("| `%s` | %s | %d | %d |\n", r.path, thousands(r.made), len(r.survivors), r.explained())
}

// thousands writes a number as pages do.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// writeRow puts a row into the table of a page, in place of the one of its package.
func writeRow(page string, r result) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, ok := withRow(string(content), r)
	if !ok {
		return fmt.Errorf("%s has no row of %s in a table between %sand %s", page, r.path, begin, end)
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

const begin, end = "<!-- written by integration/mutants -->\n", "<!-- end -->\n"

func withRow(text string, r result) (string, bool) {
	before, rest, ok := strings.Cut(text, begin)
	table, after, ended := strings.Cut(rest, end)
	i := strings.Index(table, "| `"+r.path+"` |")
	if !ok || !ended || i < 0 {
		return "", false
	}
	_, others, _ := strings.Cut(table[i:], "\n")
	return before + begin + table[:i] + r.row() + others + end + after, true
}
