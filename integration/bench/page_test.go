package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestRewriteReplacesOneTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	begin, end := markers("parse")
	otherBegin, otherEnd := markers("verdict")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# A\n" + begin + "old\n" + end + "between\n" + otherBegin + "kept\n" + otherEnd)
	if err := rewrite(file, "parse", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := "# A\n" + begin + "new\n" + end + "between\n" + otherBegin + "kept\n" + otherEnd; err != nil || string(got) != want {
		t.Errorf("%v, it reads\n%s\nwant\n%s", err, got, want)
	}
	write("# A\n" + begin + "no end\n")
	if rewrite(file, "parse", "new\n") == nil {
		t.Error("a place without an end is no error")
	}
}

// TestThePageHasEveryTable also parses the commands that the page shows.
func TestThePageHasEveryTable(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	anchors := make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(content), -1) {
		anchor := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		anchors[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	for _, s := range sections {
		begin, end := markers(s.name)
		_, rest, found := strings.Cut(string(content), begin)
		results, _, ended := strings.Cut(rest, end)
		switch {
		case !s.onPage() && found:
			t.Errorf("%s has a place for %s, which is only printed", page, s.name)
		case s.onPage() && (!ended || !strings.Contains(results, "Measured ") || !anchors[s.anchor]):
			t.Errorf("%s has no results of %s below the heading #%s", page, s.name, s.anchor)
		}
	}
	commands := regexp.MustCompile(`(?m)^(?:\(cd integration/bench && )?go run \.(.*?)\)?$`).FindAllStringSubmatch(string(content), -1)
	if len(commands) == 0 {
		t.Errorf("%s shows no command", page)
	}
	for _, command := range commands {
		arguments, _, _ := strings.Cut(command[1], "#")
		if _, _, err := parseArguments(strings.Fields(arguments)); err != nil {
			t.Errorf("%s shows %q: %v", page, command[0], err)
		}
	}
}
