package robotstxt

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// TestSyntax compares the options with the syntax in the comment and in the documentation.
func TestSyntax(t *testing.T) {
	source, err := os.ReadFile("caddyfile.go")
	if err != nil {
		t.Fatal(err)
	}
	_, comment, _ := strings.Cut(string(source), "Syntax:\n//\n")
	comment, _, _ = strings.Cut(comment, "//\n// The options")
	comment = strings.ReplaceAll(comment, "//\t", "")
	page, err := os.ReadFile("../../docs/managed.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "## Syntax\n\n```\n")
	shown, table, _ := strings.Cut(shown, "```")
	if shown != comment {
		t.Errorf("docs/managed.md shows\n%s\nand the comment\n%s", shown, comment)
	}
	var named []string
	for _, match := range regexp.MustCompile(`(?m)^    ([a-z_]+)`).FindAllStringSubmatch(comment, -1) {
		named = append(named, match[1])
	}
	options := option.OptionNames(new(Handler).options())
	if !slices.Equal(named, options) {
		t.Errorf("the comment has %v, and there are %v", named, options)
	}
	for _, name := range options {
		if !regexp.MustCompile("(?m)^\\| .*`" + name + "`.* \\|").MatchString(table) {
			t.Errorf("docs/managed.md has no row for %s", name)
		}
	}
}
