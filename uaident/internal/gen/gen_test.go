package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTablesAreUpToDate(t *testing.T) {
	want, err := Generate("../..")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../tables_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("tables_gen.go is out of date; run go generate ./uaident")
	}
}

// TestGenerateReadsBothFiles checks that an edit is compared with the edited files, and not with
// the tables of the previous run.
func TestGenerateReadsBothFiles(t *testing.T) {
	generate := func(registry, words string) error {
		dir := t.TempDir()
		for name, content := range map[string]string{"registry.json": registry, "words.json": words} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Generate(dir)
		return err
	}
	const source = `"class": "seo", "source": "https://acme.example/bot"`
	err := generate(`{"crawlers": [{"token": "FooBot", "fallback": ["Googlebot"], `+source+`}]}`, `{"stop": ["mozilla"]}`)
	if err == nil || !strings.Contains(err.Error(), `unknown fallback "Googlebot"`) {
		t.Errorf("fallback to a deleted entry: %v", err)
	}
	if err := generate(`{"crawlers": [{"token": "seo", `+source+`}]}`, `{"stop": ["mozilla"]}`); err != nil {
		t.Errorf("crawler with the name of a deleted word: %v", err)
	}
	err = generate(`{"crawlers": [{"token": "Googlebot", `+source+`}]}`, `{"stop": ["mozilla", "googlebot"]}`)
	if err == nil || !strings.Contains(err.Error(), `"Googlebot" is a common word`) {
		t.Errorf("crawler with the name of a new word: %v", err)
	}
}
