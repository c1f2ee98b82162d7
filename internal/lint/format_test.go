package lint

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func written(t *testing.T, format string, reports ...*Report) string {
	t.Helper()
	var out strings.Builder
	if err := Write(&out, format, reports); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGitHubEscapes(t *testing.T) {
	report := &Report{Name: "a,b:c%.txt", Findings: []Finding{
		{policy.NoKey, policy.Warning, 3, 2, "100 %: first\nsecond, third"},
		{policy.HTML, policy.Error, 0, 0, "a page"},
		{License, policy.Info, 1, 1, "info"},
	}}
	want := "::warning file=a%2Cb%3Ac%25.txt,line=3,col=2,title=no-key::100 %25: first%0Asecond, third\n" +
		"::error file=a%2Cb%3Ac%25.txt,title=html::a page\n" +
		"::notice file=a%2Cb%3Ac%25.txt,line=1,col=1,title=license::info\n"
	if got := written(t, "github", report); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestText(t *testing.T) {
	report := Check("a\x1b.txt", []byte("User-agent: *\nDissallow: /x\nDisallow: \x1b[2Jx\n"), Options{})
	got := written(t, "text", report, Check("b", []byte("User-agent: *\nDisallow: /x\n"), Options{}))
	for _, want := range []string{
		"a?.txt:2:1: warning: \"Dissallow\" is misspelt, and hardly any crawler but Google's reads it; correct the spelling [misspelt-key]\n",
		"a?.txt:3:11: error: ",
		"a?.txt: how crawlers read it\n",
		"  /x     disallowed (2)  allowed     allowed     allowed     allowed     allowed\n",
		"a?.txt: 1 error, 1 warning\n",
		"b: nothing to mend\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error("the file writes to the terminal")
	}
}

func TestJSON(t *testing.T) {
	got := written(t, "json", Check("x", []byte("User-agent: *\nDisallow: x\n"), Options{}))
	var out struct {
		Files []struct {
			Name     string
			Findings []struct {
				Code, Severity, Message, Help string
				Line, Column                  int
			}
			Readings struct {
				Crawlers []struct{ Crawler, Source string }
			}
		}
		Errors, Warnings, Infos int
	}
	if err := json.Unmarshal([]byte(got), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Files) != 1 || len(out.Files[0].Findings) != 1 || out.Errors != 1 || out.Warnings != 0 || len(out.Files[0].Readings.Crawlers) != 6 {
		t.Fatalf("%+v", out)
	}
	f := out.Files[0].Findings[0]
	if f.Code != "rule-without-slash" || f.Severity != "error" || f.Line != 2 || f.Column != 11 || !strings.HasSuffix(f.Help, "findings.md#rule-without-slash") {
		t.Errorf("%+v", f)
	}
	if got := written(t, "json"); !strings.Contains(got, `"files": []`) {
		t.Errorf("without files: %s", got)
	}
}

// TestSARIF holds the output against what the schema of SARIF 2.1.0 requires of
// the objects that are written: sarifLog (version, runs), run (tool), tool
// (driver), toolComponent (name), reportingDescriptor (id), result (message),
// message (text or id), and the bounds of its numbers.
func TestSARIF(t *testing.T) {
	reports := []*Report{
		Check("robots.txt", []byte("User-agent: *\nDisallow: x\nDisallow: y\n\xff\xfe\n"), Options{}),
		Check("a b/c:d.txt", []byte("<html>"), Options{}),
		Check("https://example.com/robots.txt", []byte("Disallow: /"), Options{}),
		Check("-", nil, Options{}),
	}
	got := written(t, "sarif", reports...)
	if !utf8.ValidString(got) {
		t.Error("not UTF-8")
	}
	var log map[string]any
	if err := json.Unmarshal([]byte(got), &log); err != nil {
		t.Fatal(err)
	}
	if log["version"] != "2.1.0" || log["$schema"] == "" {
		t.Errorf("version %v, schema %v", log["version"], log["$schema"])
	}
	run := log["runs"].([]any)[0].(map[string]any)
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	if driver["name"] != "Robots Guard" || run["columnKind"] != "unicodeCodePoints" {
		t.Errorf("driver %v, columns %v", driver["name"], run["columnKind"])
	}
	rules := driver["rules"].([]any)
	ids := make(map[string]bool)
	for _, r := range rules {
		id := r.(map[string]any)["id"].(string)
		if id == "" || ids[id] {
			t.Errorf("rule %q is empty or there twice", id)
		}
		ids[id] = true
		if text := r.(map[string]any)["shortDescription"].(map[string]any)["text"]; text == "" {
			t.Errorf("rule %s is not described", id)
		}
	}
	want := []string{"robots.txt", "robots.txt", "robots.txt", "a%20b/c:d.txt", "https://example.com/robots.txt", "stdin"}
	results := run["results"].([]any)
	if len(results) != len(want) {
		t.Fatalf("%d results, want %d:\n%s", len(results), len(want), got)
	}
	for i, r := range results {
		result := r.(map[string]any)
		index := int(result["ruleIndex"].(float64))
		if index < 0 || index >= len(rules) || rules[index].(map[string]any)["id"] != result["ruleId"] {
			t.Errorf("result %d: rule %v is not number %d", i, result["ruleId"], index)
		}
		switch result["level"] {
		case "error", "warning", "note":
		default:
			t.Errorf("result %d: level %v", i, result["level"])
		}
		if result["message"].(map[string]any)["text"] == "" {
			t.Errorf("result %d: no message", i)
		}
		physical := result["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
		if uri := physical["artifactLocation"].(map[string]any)["uri"]; uri != want[i] {
			t.Errorf("result %d: in %v, want %s", i, uri, want[i])
		}
		if region, ok := physical["region"].(map[string]any); ok && (region["startLine"].(float64) < 1 || region["startColumn"].(float64) < 1) {
			t.Errorf("result %d: at %v", i, region)
		}
	}
	if got := written(t, "sarif"); !strings.Contains(got, `"results": []`) {
		t.Errorf("without files: %s", got)
	}
}
