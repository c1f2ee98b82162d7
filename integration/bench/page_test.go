package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestThePageHasEveryTable checks that the page has a place for each table, and that
// the commands on the page are valid.
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
			t.Errorf("%s has a place for %s, but that section is only printed", page, s.name)
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
