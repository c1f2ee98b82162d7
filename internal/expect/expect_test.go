package expect

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestRead(t *testing.T) {
	const table = "\ufeff# comment\r\n\r\nGooglebot /a disallow\r\n\t\"Mozilla/5.0 (compatible; \\\"X\\\" \\\\)\"   https://example.com/  ALLOW\n" +
		"curl/8.7 /b allowed\n* /c disallowed\n" +
		`{"user_agent":"","url":"/d","expect":"allow","name":"nobody"}` + "\n" +
		`{"token":"GPTBot","url":"/e","expect":"disallow"}` + "\n" +
		"expect preference train-ai=n for /x\nexpect preference search=unknown for https://example.com/x as GPTBot\n" +
		"expect /x allow\n" + `{"user_agent":"a b","url":"/f","expect":"ai-use=y"}` + ""
	got, err := Read("cases.txt", strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{
		{Token: "Googlebot", URL: "/a", Line: 3},
		{UserAgent: `Mozilla/5.0 (compatible; "X" \)`, URL: "https://example.com/", Allowed: true, Line: 4},
		{UserAgent: "curl/8.7", URL: "/b", Allowed: true, Line: 5},
		{Token: "*", URL: "/c", Line: 6},
		{URL: "/d", Allowed: true, Name: "nobody", Line: 7},
		{Token: "GPTBot", URL: "/e", Line: 8},
		{Token: "*", URL: "/x", About: "train-ai", Stated: policy.PreferenceNo, Line: 9},
		{Token: "GPTBot", URL: "https://example.com/x", About: "search", Line: 10},
		{Token: "expect", URL: "/x", Allowed: true, Line: 11},
		{UserAgent: "a b", URL: "/f", About: "ai-use", Stated: policy.PreferenceYes, Line: 12},
	}
	if len(got) != len(want) {
		t.Fatalf("%d cases: %+v", len(got), got)
	}
	for i, c := range want {
		c.File = "cases.txt"
		if got[i] != c {
			t.Errorf("%+v, want %+v", got[i], c)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, tc := range []struct{ name, table, says string }{
		{"nothing", "", "c.txt: there is no case in it"},
		{"comments only", "# a\n\n", "there is no case in it"},
		{"two fields", "ok /a allow\nGooglebot /a\n", "c.txt:2: 2 fields instead of three"},
		{"a User-Agent without quotes", "Mozilla/5.0 (compatible) /a allow", "c.txt:1: 4 fields"},
		{"another word", "Googlebot /a maybe", `c.txt:1: "maybe" is neither allow nor disallow`},
		{"no path", "Googlebot a.html allow", `c.txt:1: "a.html" is neither a URL nor a path`},
		{"an open quote", `"Googlebot /a allow`, "c.txt:1: a quote is not closed"},
		{"a quote within a field", `"Google"bot /a allow`, "c.txt:1: a quote has to end a field"},
		{"broken JSON", `{"token":`, "c.txt:1: no JSON object"},
		{"an unknown field", `{"agent":"x","url":"/","expect":"allow"}`, `unknown field "agent"`},
		{"two clients", `{"token":"x","user_agent":"y","url":"/","expect":"allow"}`, "both"},
		{"no client", `{"url":"/","expect":"allow"}`, "neither"},
		{"no expectation", `{"token":"x","url":"/"}`, `"" is neither allow nor disallow`},
		{"a preference for nothing", "ok / allow\nexpect preference train-ai=n", "c.txt:2: write it as: expect preference train-ai=n for /x"},
		{"a preference for a word", "expect preference train-ai=n for x", `c.txt:1: "x" is neither a URL`},
		{"a label of an older draft", "* / train-genai=n", "c.txt:1: \"train-genai\" is a label that draft-ietf-aipref-vocab-03 had last"},
		{"a label of none", "expect preference Train-AI=n for /", `c.txt:1: "Train-AI=n" is not a preference; write train-ai`},
		{"a value of another line", "* / train-ai=no", `c.txt:1: the value of train-ai is y, n or unknown, and not "no"`},
		{"two preferences", `{"token":"x","url":"/","expect":"train-ai=n, search=y"}`, `and not "n, search=y"`},
		{"two errors", "a\nb\n", "c.txt:2: 1 fields"},
		{"a line without end", "Googlebot / allow\n" + strings.Repeat("x", maxLine+1), "c.txt:2: the line has more than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Read("c.txt", strings.NewReader(tc.table)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%.300v, want %q", err, tc.says)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Googlebot / allow\n\"a \\\" b\" /x disallow\n{\"token\":\"x\"}")
	f.Fuzz(func(t *testing.T, table string) {
		cases, err := Read("x", strings.NewReader(table))
		if err == nil && len(cases) == 0 {
			t.Error("neither a case nor an error")
		}
		for _, c := range cases {
			if c.Line < 1 || c.URL == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}

var results = []Result{
	{Case: Case{Token: "Googlebot", URL: "/a#b", Allowed: true, File: "a.txt", Line: 1}, Got: true},
	{Case: Case{UserAgent: "x\x1b<&>\"", URL: "/", File: "a.txt", Line: 2}, Got: true, Because: "no rule of group \"*\"\nmatches", Note: "what\nof it"},
	{Case: Case{Token: "b", Name: "a name", URL: "/", File: "b.txt", Line: 7}},
}

func TestTAP(t *testing.T) {
	const want = `TAP version 13
1..3
ok 1 - Googlebot allow /a\#b
not ok 2 - x?<&>" disallow /
  ---
  at: "a.txt:2"
  expected: disallow
  got: allow
  because: "no rule of group \"*\"\nmatches"
  ...
# what?of it
ok 3 - a name
`
	var got strings.Builder
	if err := Write(&got, "tap", results); err != nil || got.String() != want {
		t.Errorf("got\n%s(%v), want\n%s", got.String(), err, want)
	}
}

func TestJSON(t *testing.T) {
	var got strings.Builder
	if err := Write(&got, "json", results); err != nil {
		t.Fatal(err)
	}
	var report jsonReport
	if err := json.Unmarshal([]byte(got.String()), &report); err != nil {
		t.Fatal(err)
	}
	want := jsonCase{
		Name: "x\x1b<&>\" disallow /", File: "a.txt", Line: 2, UserAgent: "x\x1b<&>\"", URL: "/",
		Expected: "disallow", Got: "allow", Because: "no rule of group \"*\"\nmatches", Note: "what\nof it",
	}
	if report.Passed != 2 || report.Failed != 1 || len(report.Cases) != 3 || report.Cases[1] != want {
		t.Errorf("%+v, want %+v", report, want)
	}
}

// TestPreferenceReport tells of preferences by their words, whether the URL may be
// fetched or not.
func TestPreferenceReport(t *testing.T) {
	about := Case{Token: "*", URL: "/x", About: "train-ai", Stated: policy.PreferenceNo, File: "a.txt", Line: 1}
	met, missed := Result{Case: about, States: policy.PreferenceNo}, Result{Case: about, Got: true, Because: "why"}
	var got strings.Builder
	if err := Write(&got, "tap", []Result{met, missed}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nok 1 - * train-ai=n /x\n", "\nnot ok 2 - * train-ai=n /x\n", "  expected: train-ai=n\n  got: train-ai=unknown\n  because: \"why\"\n"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in\n%s", want, got.String())
		}
	}
}

func TestJUnit(t *testing.T) {
	var got strings.Builder
	if err := Write(&got, "junit", results); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Line    int    `xml:"line,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(got.String()), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 3 || suites.Failures != 1 || len(suites.Suites) != 2 || suites.Suites[0].Tests != 2 || suites.Suites[1].Failures != 0 {
		t.Errorf("%+v", suites)
	}
	if f := suites.Suites[0].Cases[1].Failure; f == nil || f.Message != "expected disallow, got allow" {
		t.Errorf("%+v", f)
	}
	if suites.Suites[1].Cases[0].Name != "a name" || suites.Suites[1].Cases[0].Line != 7 {
		t.Errorf("%+v", suites.Suites[1])
	}
}
