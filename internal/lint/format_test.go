package lint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// filesOf returns the reports as one result.
func filesOf(reports ...*Report) *FileReports {
	files := &FileReports{Files: []*Report{}}
	for _, r := range reports {
		files.Add(r)
	}
	return files
}

func TestGitHubEscapes(t *testing.T) {
	report := &Report{Name: "a,b:c%.txt", Findings: []Finding{
		{Code: policy.LineWithoutKey, Severity: policy.Warning, Line: 3, Column: 2, Message: "100 %: first\nsecond, third"},
		{Code: policy.HTML, Severity: policy.Error, Message: "a page"},
		{Code: License, Severity: policy.Info, Line: 1, Column: 1, Message: "info"},
	}}
	want := "::warning file=a%2Cb%3Ac%25.txt,line=3,col=2,title=no-key::100 %25: first%0Asecond, third\n" +
		"::error file=a%2Cb%3Ac%25.txt,title=html::a page\n" +
		"::notice file=a%2Cb%3Ac%25.txt,line=1,col=1,title=license::info\n"
	var got strings.Builder
	if filesOf(report).WriteGitHub(&got); got.String() != want {
		t.Errorf("got\n%s, want\n%s", got.String(), want)
	}
}

func TestText(t *testing.T) {
	report := Check("a\x1b.txt", []byte("User-agent: *\nDissallow: /x\nDisallow: \x1b[2Jx\n"), Options{})
	var written strings.Builder
	filesOf(report, Check("b", []byte("User-agent: *\nDisallow: /x\n"), Options{})).WriteText(&written)
	got := written.String()
	for _, want := range []string{
		"a?.txt:2:1: warning: \"Dissallow\" is misspelt, and hardly any crawler but Google's reads it; correct the spelling [misspelt-key]\n",
		"a?.txt:3:11: error: ",
		"a?.txt: how crawlers read this file\n",
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
	got, err := json.Marshal(filesOf(Check("x", []byte("User-agent: *\nDisallow: x\n"), Options{})))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal(got, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Files) != 1 || len(out.Files[0].Findings) != 1 || out.Errors != 1 || out.Warnings != 0 || len(out.Files[0].Readings.Crawlers) != 6 {
		t.Fatalf("%+v", out)
	}
	f := out.Files[0].Findings[0]
	if f.Code != "rule-without-slash" || f.Severity != "error" || f.Line != 2 || f.Column != 11 || !strings.HasSuffix(f.Help, "findings.md#rule-without-slash") {
		t.Errorf("%+v", f)
	}
	if got, err := json.Marshal(Check("x", []byte("User-agent: *\nDisallow: /x\n"), Options{})); err != nil || !strings.Contains(string(got), `"findings":[]`) {
		t.Errorf("without findings: %s, %v", got, err)
	}
}
