package main

import (
	"errors"
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
		if !found || !ended || !strings.Contains(results, "Measured ") || !anchors[s.anchor] {
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

// TestAFailureIsAnError checks that run returns errors and panics as an error.
func TestAFailureIsAnError(t *testing.T) {
	bad := errors.New("bad")
	for name, render := range map[string]func(effort, *google) (outcome, error){
		"an error": func(effort, *google) (outcome, error) { return outcome{}, bad },
		"a panic":  func(effort, *google) (outcome, error) { panic(bad) },
	} {
		if err := (section{name: "x", render: render}).run(effort{}, nil, options{}); err == nil || !strings.Contains(err.Error(), "bad") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOverIsByRounds checks that over compares only measurements of the same round.
func TestOverIsByRounds(t *testing.T) {
	slow, fast := result{rounds: []float64{12, 103, 22, 54, 33}}, result{rounds: []float64{10, 100, 20, 50, 30}}
	if got, want := slow.over(&fast), (spread{2, 3, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
