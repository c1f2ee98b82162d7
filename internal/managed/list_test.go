package managed

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestParse(t *testing.T) {
	list, err := ParseRuleList("a.json", []byte("\xef\xbb\xbf"+`{"$schema": "rules.schema.json", "rules": [
		{"id": "sale", "for": ["ai_training", "*"], "disallow": ["/a", "/b"], "from": "2026-11-27T00:00:00Z", "until": null,
		 "hosts": ["a.test"], "reason": "load", "owner": null, "ticket": "OPS-1"},
		{"id": "open", "for": ["GPTBot"], "disallow": null, "allow": true},

		{"crawl_delay": 1.5, "for": ["GPTBot"], "id": "slow"},
		{"id": "use", "content_usage": "train-ai=n"}
	]}`))
	want := []Rule{
		{ID: "sale", For: []string{"ai_training", "*"}, Paths: []string{"/a", "/b"}, From: "2026-11-27T00:00:00Z", Hosts: []string{"a.test"}, Reason: "load", Ticket: "OPS-1", At: "a.json:2"},
		{ID: "open", For: []string{"GPTBot"}, Allow: true, At: "a.json:4"},
		{ID: "slow", For: []string{"GPTBot"}, CrawlDelay: "1.5", At: "a.json:6"},
		{ID: "use", ContentUsage: "train-ai=n", At: "a.json:7"},
	}
	if err != nil || !reflect.DeepEqual(list.Rules, want) {
		t.Errorf("got %+v, %v", list, err)
	}
	if rules, err := ParseRuleList("a", []byte(`{"rules": []}`)); err != nil || len(rules.Rules) != 0 {
		t.Errorf("no rules: %v, %v", rules, err)
	}
}

// TestParseErrors checks that errors have the line, the column and the fix.
func TestParseErrors(t *testing.T) {
	rule := func(fields string) string { return "{\"rules\": [\n  {" + fields + "}\n]}" }
	const whole = `"id": "a", "for": ["GPTBot"], "disallow": true`
	for text, want := range map[string]string{
		"":                                `a.json: it is empty; a list without a rule is {"rules": []}`,
		" \n":                             "it is empty",
		"null":                            `a.json:1:1: a list is an object, for example {"rules": []}, and not null`,
		"[]":                              "a.json:1:1: a list is an object",
		"{}":                              "but the field rules is missing",
		`{"rules": null}`:                 "a.json:1:11: rules has to be a list of rules, and not null",
		`{"rules": {}}`:                   "and not an object",
		"\n <!DOCTYPE html>":              "a.json: this is a web page, not JSON",
		`{"rules": []} {}`:                "a.json:1:15: invalid character '{' after top-level value",
		`{"rules": []`:                    "a.json:1:12: unexpected end of JSON input",
		"{\"rules\": [\n\t\xff]}":         "a.json:2:2: this is not UTF-8",
		"{\"rules\": [\n 1,]}":            "a.json:2:3: no value follows this comma; remove the comma",
		`{"rule": []}`:                    `a.json:1:2: unknown field "rule"; did you mean rules?`,
		`{"rules": [], "rules": []}`:      "a.json:1:15: rules occurs twice; remove one",
		`{"rules": [1]}`:                  "a.json:1:12: a rule is an object",
		`{"rules": [{}]}`:                 "a.json:1:13: a rule needs an id",
		rule(`"id": "a", "dissalow": []`): `a.json:2:15: unknown field "dissalow"; did you mean disallow?`,
		rule(`"user_agent": []`):          `unknown field "user_agent"; known are id, for,`,
		rule(whole + `, "id": "b"`):       "id occurs twice",
		rule(`"id": 7`):                   "a.json:2:10: id has to be a string, and not the number 7",
		rule(`"id": ""`):                  "id is empty; leave it out",
		rule(`"id": "a b", "for": ["GPTBot"], "allow": true`):                             `a.json:2:4: rule a b: "a b" cannot be a rule's name`,
		rule(`"id": "a", "disallow": true`):                                               "rule a: the rule names no crawler",
		rule(`"id": "a", "for": []`):                                                      "a.json:2:22: for has to be a list",
		rule(`"id": "a", "for": "GPTBot"`):                                                `a.json:2:22: for has to be a list of product tokens and classes such as ["ai_training"], or ["*"], and not the string "GPTBot"`,
		rule(`"id": "a", "for": ["GPTBot", null]`):                                        "for has null among its strings",
		rule(`"id": "a", "for": ["GPTBot"]`):                                              "rule a: the rule has no effect",
		rule(`"id": "a", "for": ["GPTBot"], "disallow": []`):                              `a.json:2:46: disallow has to be a list of paths such as ["/search"], or true for the whole site, and not an empty list`,
		rule(`"id": "a", "for": ["GPTBot"], "disallow": false`):                           "and not false",
		rule(`"id": "a", "for": ["GPTBot"], "disallow": ["/a", ""]`):                      "disallow has an empty string among its strings",
		rule(whole + `, "allow": ["/b"]`):                                                 "rule a: a rule can have only one kind of statement",
		rule(whole + `, "hosts": []`):                                                     "hosts has to be a list, for example",
		rule(whole + `, "hosts": null`):                                                   "leave it out for all hosts, and not null",
		rule(whole + `, "from": "2026-11-27"`):                                            "a.json:2:4: rule a: from \"2026-11-27\" has no time zone",
		rule(whole + `, "from": "2026-11-27T00:00:00Z", "until": "2026-11-26T00:00:00Z"`): "before it begins",
		rule(whole + `, "reason": "a\nb"`):                                                "reason has to be one line",
		rule(`"id": "a", "for": ["GPTBot"], "crawl_delay": "10"`):                         `crawl_delay has to be a number of seconds above 0 and up to 86400, and not the string "10"`,
		rule(`"id": "a", "for": ["GPTBot"], "crawl_delay": -1`):                           "and not the number -1",
		rule(`"id": "a", "for": ["GPTBot"], "crawl_delay": 1e1`):                          "and not the number 1e1",
		rule(whole + "},\n {" + whole):                                                    "a.json:3: rule a: the rule at a.json:2 has the same name",
	} {
		rules, err := ParseRuleList("a.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || rules != nil {
			t.Errorf("%s: %v, %v, want %s", text, rules, err, want)
		}
	}
}

func TestParseBounds(t *testing.T) {
	list := func(n int) []byte {
		var b strings.Builder
		b.WriteString(`{"rules": [`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id": "%d", "for": ["*"], "allow": true}`, i)
		}
		return []byte(b.String() + "]}")
	}
	if rules, err := ParseRuleList("a", list(maxRules)); err != nil || len(rules.Rules) != maxRules {
		t.Errorf("%+.100v, %v", rules, err)
	}
	if _, err := ParseRuleList("a", list(maxRules+1)); err == nil || !strings.Contains(err.Error(), "more than 100000 rules") {
		t.Errorf("one more: %v", err)
	}
	long := append(make([]byte, MaxListBytes), ' ')
	if _, err := ParseRuleList("a", long); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("too long: %v", err)
	}
}

// TestSchema checks that the documented schema has the fields of a list, and that the documented
// lists are valid.
func TestSchema(t *testing.T) {
	data, err := os.ReadFile("../../docs/rules.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Additional *bool                      `json:"additionalProperties"`
	}
	var list, rule object
	var rules struct {
		MaxItems int             `json:"maxItems"`
		Items    json.RawMessage `json:"items"`
	}
	for _, read := range []struct {
		data json.RawMessage
		into any
	}{{data, &list}, {nil, &rules}, {nil, &rule}} {
		if read.into == &rules {
			read.data = list.Properties["rules"]
		} else if read.into == &rule {
			read.data = rules.Items
		}
		if err := json.Unmarshal(read.data, read.into); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		object
		fields []string
	}{{list, listFields}, {rule, ruleFields}} {
		var named []string
		for name := range tc.Properties {
			named = append(named, name)
		}
		fields := slices.Sorted(slices.Values(tc.fields))
		if slices.Sort(named); !slices.Equal(named, fields) || tc.Additional == nil || *tc.Additional {
			t.Errorf("the schema has %v, and there are %v", named, fields)
		}
	}
	if rules.MaxItems != maxRules {
		t.Errorf("the schema has up to %d rules", rules.MaxItems)
	}
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, part := range strings.Split(string(page), "```") {
		if text, isJSON := strings.CutPrefix(part, "json\n"); i%2 == 1 && isJSON {
			rules, err := ParseRuleList("docs/rules.md", []byte(text))
			if err == nil {
				_, err = NewSchedule(uaident.Default(), Spec{Lists: []RuleList{*rules}})
			}
			if shown++; err != nil {
				t.Error(err)
			}
		}
	}
	for _, field := range ruleFields {
		if !regexp.MustCompile("(?m)^\\| `.*`?" + field + "`.* \\|").Match(page) {
			t.Errorf("docs/rules.md has no row for %s", field)
		}
	}
	if shown == 0 {
		t.Error("docs/rules.md shows no list")
	}
}

// FuzzParse parses arbitrary data. A parsed list is within the limits, and makes a schedule or an
// error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"rules": [{"id": "a", "for": ["GPTBot"], "disallow": ["/a"], "until": null}]}`))
	f.Add([]byte(`{"rules": [{"id": "a", "for": ["*"], "crawl_delay": 1e1, "hosts": ["a.test"]}, {"id": "b", "for": ["seo"], "allow": true}]}`))
	f.Add([]byte(`{"rules": [{"id": "a", "content_signal": "search=yes"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := ParseRuleList("a.json", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "a.json:") {
				t.Errorf("%v does not say where", err)
			}
			return
		}
		for _, r := range rules.Rules {
			if r.ID == "" || !strings.HasPrefix(r.At, "a.json:") {
				t.Errorf("rule %+v", r)
			}
		}
		if len(data) < 10_000 {
			_, _ = NewSchedule(uaident.Default(), Spec{Lists: []RuleList{*rules}})
		}
	})
}

// BenchmarkList parses a list of 10,000 rules and makes a schedule.
func BenchmarkList(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, `%s{"id": "r%d", "for": ["%s"], "disallow": ["/path/%d"], "from": "2026-11-27T00:00:00Z", "until": null, "reason": "load of the sale"}`,
			[]string{`{"rules": [`, ",\n"}[min(i, 1)], i, []string{"GPTBot", "*", "ai_training"}[i%3], i)
	}
	data := []byte(text.String() + "]}")
	b.SetBytes(int64(len(data)))
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseRuleList("a.json", data); err != nil {
				b.Fatal(err)
			}
		}
	})
	rules, err := ParseRuleList("a.json", data)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("schedule", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := NewSchedule(uaident.Default(), Spec{Lists: []RuleList{*rules}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
