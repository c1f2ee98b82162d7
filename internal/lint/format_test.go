package lint

import (
	"encoding/json"
	"strings"
	"testing"

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
		"b: no findings\n",
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
