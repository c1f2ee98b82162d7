package registryfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestEmbedded checks that the embedded file equals the compiled registry, and that
// AppendEntry reproduces the entries.
func TestEmbedded(t *testing.T) {
	e, err := Parse("registry.json", uaident.JSON(), uaident.Default())
	if err != nil {
		t.Fatal(err)
	}
	if e.Date == "" {
		t.Error("the embedded file has no date")
	}
	for i, c := range uaident.Default().Crawlers() {
		if i > 0 && strings.ToLower(e.Crawlers[i-1].Token) > strings.ToLower(e.Crawlers[i].Token) {
			t.Errorf("%s is not in alphabetical order", e.Crawlers[i].Token)
		}
		if c.Checked == "" {
			t.Errorf("%s has no field checked", c.Token)
		}
		if !reflect.DeepEqual(c, e.Crawlers[i]) {
			t.Errorf("compiled entry %+v, embedded entry %+v", c, e.Crawlers[i])
		}
	}
	again, err := Parse("again", fileWith(e.Crawlers), uaident.Default())
	if err != nil || !reflect.DeepEqual(again.Crawlers, e.Crawlers) {
		t.Errorf("the written file differs from its source: %v", err)
	}
	same, err := e.Merge(uaident.Default())
	if err != nil || len(Diff(same.Crawlers(), uaident.Default().Crawlers())) > 0 {
		t.Errorf("merging the embedded file changes the registry: %v", err)
	}
}

// fileWith returns a registry file with the given entries.
func fileWith(crawlers []uaident.Crawler) []byte {
	var entries [][]byte
	for i := range crawlers {
		entries = append(entries, AppendEntry(nil, &crawlers[i]))
	}
	return slices.Concat([]byte(`{"crawlers": [`), bytes.Join(entries, []byte(",\n")), []byte("]}"))
}

const source = `"source": "https://foo.example/bot"`

func TestMistakes(t *testing.T) {
	one := func(fields string) string { return "{\"crawlers\": [\n{" + fields + "}\n]}" }
	good := `"token": "FooBot", "class": "search", ` + source
	tests := []struct{ text, want string }{
		{one(good), ""},
		{`{"crawlers": []}`, ""},
		{"", "f: it is empty; a registry is an object"},
		{"<html>", "f: this is a web page"},
		{"{\"crawlers\": [\n{]}", "f:2:2: invalid character ']'"},
		{"{\"crawlers\": [\n{" + good + "},\n]}", "f:2:76: no value follows this comma; remove the comma"},
		{"{\"crawlers\": [{" + good + ",}]}", "no value follows this comma; remove the comma"},
		{"{\"crawlers\": [,]}", "f:1:15: invalid character ','"},
		{"\xff{}", "f:1:1: this is not UTF-8"},
		{`[]`, "f:1:1: a registry is an object"},
		{`{}`, "f:1:1: the field crawlers is missing"},
		{`{"crawlers": {}}`, "f:1:14: crawlers must be a list"},
		{`{"crawler": []}`, `f:1:2: unknown field "crawler"; did you mean crawlers?`},
		{one(good + `, "robots_lag": 0, "robots_lag_source": "https://foo.example/a"`), "robots_lag must be a whole number from 1 to 604800, not 0"},
		{one(good + `, "robots_lag": 1.5, "robots_lag_source": "https://foo.example/a"`), ", not 1.5"},
		{one(good + `, "robots_lag": 99999999999999999999999, "robots_lag_source": "https://foo.example/a"`), "robots_lag must be a whole number"},
		{`{"date": "yesterday", "crawlers": []}`, `date must be a date such as 2026-11-23, not "yesterday"`},
		{one(`"token": "FooBot", "clas": "search"`), `f:2:21: unknown field "clas"; did you mean class?`},
		{one(`"token": "FooBot", "token": "BarBot"`), "f:2:21: duplicate field token; keep one"},
		{one(`"token": "FooBot", "class": "serch"`), `f:2:30: unknown class "serch"; did you mean search?`},
		{one(`"token": "FooBot", "class": "browser"`), `unknown class "browser"`},
		{one(`"token": 1`), "f:2:11: token must be a string"},
		{one(`"token": ""`), "f:2:11: token is empty; remove the field"},
		{one(`"token": "` + strings.Repeat("a", 101) + `"`), "f:2:11: token has 101 bytes, more than 100"},
		{one(`"token": "Foo\nBot"`), "token contains a control character"},
		{one(`"class": "search", ` + source), "f:2:1: an entry: missing token"},
		{one(`"token": "FooBot", ` + source), "f:2:1: FooBot: missing class"},
		{one(`"token": "FooBot", "class": "search"`), `f:2:1: FooBot: missing source; add the operator's page, or write "provenance": "unsourced"`},
		{one(`"token": "FooBot", "class": "search", "source": "http://foo.example"`), "is not an https URL"},
		{one(good + `, "aliases": []`), "aliases is an empty list; remove the list"},
		{one(good + `, "aliases": ["a", "a"]`), `aliases contains "a" twice`},
		{one(good + `, "aliases": "a"`), "aliases must be a list of strings"},
		{one(good + `, "fallback": ["Gogglebot"]`), `f:2:1: FooBot: unknown fallback "Gogglebot"`},
		{one(good + `, "fallback": ["Googlebot"]`), ""},
		{one(good + `, "wildcard": "on"`), "wildcard must be true or false"},
		{one(good + `, "wildcard": null`), "wildcard must be true or false"},
		{one(good + `, "verification": {"rdns": ["foo.example"]}`), "must be a dot and a domain"},
		{one(good + `, "verification": {"rdn": ["foo.example"]}`), "verification: unknown field \"rdn\"; did you mean rdns?"},
		{one(good + `, "verification": {"ranges": ["http://foo.example/a"]}`), "is not an https URL"},
		{one(good + `, "verification": {"confirming_ranges": ["https://foo.example/a"]}`), ""},
		{one(good + `, "verification": {"confirming_ranges": ["http://foo.example/a"]}`), "is not an https URL"},
		{one(good + `, "crawl_delay": "ignores", "crawl_delay_wildcard": true, "crawl_delay_source": "https://foo.example/a"`), "crawl_delay_wildcard requires"},
		{one(good + `, "crawl_delay": "obeys"`), "crawl_delay requires crawl_delay_source"},
		{one(good + `, "crawl_delay_max": 5`), "require crawl_delay"},
		{one(good + `, "purposes": ["training", "sarch"]`), `unknown purpose "sarch"; did you mean search?`},
		{one(good + `, "purposes": ["training"]`), "purposes or purposes_source is missing"},
		{one(good + `, "checked": "2026-11-23"`), ""},
		{one(good + `, "checked": "23.11.2026"`), `checked must be a date such as 2026-11-23, not "23.11.2026"`},
		{one(`"token": "Chrome", "class": "search", ` + source), `f:2:1: Chrome: "Chrome" is a common word in User-Agents`},
		{one(`"token": "Foo*", "class": "search", ` + source), "not allowed in a product token"},
		{one(good) + "x", "invalid character"},
		{"{\"crawlers\": [{" + good + "},\n{" + strings.Replace(good, "FooBot", "foobot", 1) + "}]}", `f:2:1: foobot: the name "foobot" already belongs to FooBot`},
	}
	for _, tt := range tests {
		_, err := Parse("f", []byte(tt.text), uaident.Default())
		switch {
		case err == nil && tt.want != "":
			t.Errorf("%.200s: no error, want %q", tt.text, tt.want)
		case err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%.200s: %v, want %q", tt.text, err, tt.want)
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("%.200s: %v, want one error", tt.text, err)
		}
	}
}

// TestManyMistakes checks that one error lists all mistakes, and the bounds of mistakes, entries
// and bytes.
func TestManyMistakes(t *testing.T) {
	_, err := Parse("f", []byte("{\"crawlers\": [\n{\"token\": \"A\"},\n{\"clas\": {\"x\": [1, {}]}, \"token\": 5},\n7\n]}"), uaident.Default())
	for _, want := range []string{"f:2:1: A: missing class", `f:3:2: unknown field "clas"`, "f:3:35: token must be a string", "f:4:1: an entry is an object"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err = Parse("f", []byte(`{"crawlers": [`+strings.Repeat("1,", 200)+`1]}`), uaident.Default()); err == nil || !strings.Contains(err.Error(), "151 more mistakes") {
		t.Errorf("%v", err)
	}
	var many []string
	for i := range MaxCrawlers + 1 {
		many = append(many, fmt.Sprintf(`{"token": "A%d", "class": "seo", "provenance": "unsourced"}`, i))
	}
	if _, err = Parse("f", []byte(`{"crawlers": [`+strings.Join(many, ",")+`]}`), uaident.Default()); err == nil || !strings.Contains(err.Error(), "more than 3000 crawlers") {
		t.Errorf("%v", err)
	}
	if _, err = Parse("f", []byte(`{"crawlers": [`+strings.Join(many[:2999], ",")+`]}`), uaident.Default()); err == nil || !strings.Contains(err.Error(), "exceed the maximum") {
		t.Errorf("%v", err)
	}
	if _, err = Parse("f", make([]byte, MaxBytes+1), uaident.Default()); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Errorf("%v", err)
	}
}

func TestDiff(t *testing.T) {
	before := []uaident.Crawler{{Token: "A", Class: uaident.SEO}, {Token: "B", Class: uaident.SEO}, {Token: "C", Class: uaident.SEO}}
	after := []uaident.Crawler{{Token: "a", Class: uaident.Search, Aliases: []string{"x"}}, {Token: "B", Class: uaident.SEO}, {Token: "D", Class: uaident.SEO}}
	want := []Change{
		{"a", Changed, []FieldChange{{"token", `"A"`, `"a"`}, {"class", `"seo"`, `"search"`}, {"aliases", "", `["x"]`}}},
		{"C", Removed, nil}, {"D", Added, nil},
	}
	if got := Diff(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSchema checks that the published schema has exactly the fields and values that Parse accepts.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("../../docs/registry.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	check := func(name string, has object, fields []string) {
		if len(has.Properties) != len(fields) {
			t.Errorf("the schema of %s has %d fields, Parse accepts %d", name, len(has.Properties), len(fields))
		}
		for _, field := range fields {
			if _, ok := has.Properties[field]; !ok {
				t.Errorf("the schema of %s has no field %s", name, field)
			}
		}
	}
	check("a registry file", schema.object, fileFields)
	check("an entry", schema.Defs["entry"], entryFields)
	check("a verification", schema.Defs["verification"], verificationFields)
	for field, words := range map[string][]string{"class": classNames(), "provenance": provenances, "crawl_delay": delaySupports} {
		if got := schema.Defs["entry"].Properties[field].Enum; !slices.Equal(got, words) {
			t.Errorf("the schema allows %[2]q for %[1]s, Parse accepts %[3]q", field, got, words)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"date": "2026-11-23", "crawlers": [{"token": "FooBot", "class": "search", "source": "https://foo.example/bot", "verification": {"rdns": [".foo.example"]}}]}`))
	f.Add([]byte(`{"crawlers": [{"aliases": [1, {"a": []}], "token": "\ud800"}, 5]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Parse("f", data, uaident.Default())
		if err != nil {
			return
		}
		file := fileWith(e.Crawlers)
		again, err := Parse("again", file, uaident.Default())
		if err != nil {
			t.Fatalf("%v in\n%s", err, file)
		}
		if changes := Diff(e.Crawlers, again.Crawlers); len(changes) > 0 {
			t.Errorf("%+v", changes)
		}
	})
}
