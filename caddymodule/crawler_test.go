package caddymodule

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestAtRanges adds the line of a missing file to the error, and no line after the file exists.
func TestAtRanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ranges.txt")
	list := CrawlerRanges{File: path}
	list.CaddyfileLine = "Caddyfile:7"
	all, wrong := []Crawler{{Ranges: []CrawlerRanges{{URL: "https://acme.example/ranges.json"}, list}}}, errors.New("wrong")
	if err := addRangeLines(all, wrong); !errors.Is(err, wrong) || err.Error() != "wrong, at Caddyfile:7" {
		t.Errorf("while it is missing: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := addRangeLines(all, wrong); err != wrong {
		t.Errorf("once it is there: %v", err)
	}
	if err := addRangeLines(all, nil); err != nil {
		t.Errorf("without an error: %v", err)
	}
}

// TestAtRangesOfSeveral adds the line of each missing file to the error.
func TestAtRangesOfSeveral(t *testing.T) {
	var all []Crawler
	for i, name := range []string{"one", "two", "one"} {
		list := CrawlerRanges{File: name}
		list.CaddyfileLine = []string{"Caddyfile:3", "Caddyfile:8", "Caddyfile:9"}[i]
		all = append(all, Crawler{Ranges: []CrawlerRanges{list}})
	}
	if err := addRangeLines(all, errors.New("wrong")); err.Error() != "wrong; one is named at Caddyfile:3, two at Caddyfile:8 and one at Caddyfile:9" {
		t.Error(err)
	}
}
