package main

import (
	"bytes"
	"cmp"
	"os"
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
		t.Error("tables_gen.go is not what registry.json and words.json say: run go generate ./uaident")
	}
}

func TestCheck(t *testing.T) {
	good := entry{Token: "FooBot", Class: "search", Source: "https://example.com/bot", Checked: "2026-11-23"}
	tests := []struct {
		entries []entry
		want    string
	}{
		{[]entry{good}, ""},
		{[]entry{good, good}, "already that of FooBot"},
		{[]entry{{Token: "BarBot", Class: "seo", Aliases: []string{"foobot"}, Source: good.Source}, good}, "already that of BarBot"},
		{[]entry{good, {Token: "BarBot", Class: "seo", Source: good.Source}}, "must come before FooBot"},
		{[]entry{{Token: "A", Class: "browser", Source: good.Source}}, `unknown class "browser"`},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, Fallback: []string{"B"}}}, "is in no entry"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, Fallback: []string{"a"}}}, "falls back to itself"},
		{[]entry{{Token: "A", Class: "seo", Source: "http://example.com"}}, "is not an https URL"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, CrawlDelay: "obeys", CrawlDelayMax: 10, CrawlDelaySource: good.Source}}, ""},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, CrawlDelay: "obeys"}}, "crawl_delay has no source"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, CrawlDelay: "yes", CrawlDelaySource: good.Source}}, `unknown crawl_delay "yes"`},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, CrawlDelaySource: good.Source}}, "without crawl_delay"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, CrawlDelay: "ignores", CrawlDelayMax: 10, CrawlDelaySource: good.Source}}, "for crawlers that obey"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, CrawlDelay: "ignores", DelayWildcard: true, CrawlDelaySource: good.Source}}, "crawl_delay_wildcard is for crawlers that obey"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, CrawlDelay: "ignores", CrawlDelaySource: "http://example.com"}}, "is not an https URL"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, Purposes: []string{"training", "search"}, PurposesSource: good.Source}}, ""},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, Purposes: []string{"training"}}}, "without purposes_source"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, PurposesSource: good.Source}}, "without purposes_source"},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, Purposes: []string{"profit"}, PurposesSource: good.Source}}, `purpose "profit"`},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, Purposes: []string{"search", "search"}, PurposesSource: good.Source}}, `purpose "search"`},
		{[]entry{{Token: "A", Class: "seo", Source: good.Source, Checked: "23.11.2026"}}, `checked "23.11.2026" is not the day`},
		{[]entry{{Token: "A", Class: "seo"}}, "has no source"},
		{[]entry{{Token: "A", Class: "seo", Provenance: "unsourced"}}, ""},
		{[]entry{{Token: "A", Class: "seo", Provenance: "hearsay"}}, "unknown provenance"},
	}
	for _, tt := range tests {
		for i := range tt.entries {
			tt.entries[i].Checked = cmp.Or(tt.entries[i].Checked, good.Checked)
		}
		err := check(tt.entries)
		switch {
		case err == nil && tt.want != "":
			t.Errorf("%+v: no error, want %q", tt.entries, tt.want)
		case err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%+v: %v, want %q", tt.entries, err, tt.want)
		}
	}
	unchecked := good
	unchecked.Checked = ""
	if err := check([]entry{unchecked}); err == nil || !strings.Contains(err.Error(), `checked "" is not the day`) {
		t.Errorf("an entry without the day on which it was checked: %v", err)
	}
	bad := good
	bad.Verification.RDNS = []string{"example.com"}
	if err := check([]entry{bad}); err == nil {
		t.Error("a reverse DNS suffix without a leading dot is accepted: notexample.com would pass")
	}
}
