package explain

import (
	"strings"
	"testing"
)

func TestReadCases(t *testing.T) {
	const table = "\ufeff# comment\r\n\r\nGooglebot /a disallow\r\n\t\"Mozilla/5.0 (compatible; \\\"X\\\" \\\\)\"   https://example.com/  ALLOW\n" +
		"curl/8.7 /b allowed\n* /c disallowed\n" +
		`{"user_agent":"","url":"/d","expect":"allow","name":"nobody"}` + "\n" +
		`{"token":"GPTBot","url":"/e","expect":"disallow"}` + "\n" +
		"* /x train-ai=n\nGPTBot https://example.com/x search=unknown\n" +
		"expect /x allow\n" + `{"user_agent":"a b","url":"/f","expect":"ai-use=y"}` + ""
	got, err := ReadCases("cases.txt", []byte(table))
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{
		{Token: "Googlebot", URL: "/a", Expected: Disallow, Line: 3, Name: "Googlebot disallow /a"},
		{UserAgent: `Mozilla/5.0 (compatible; "X" \)`, URL: "https://example.com/", Expected: Allow, Line: 4, Name: `Mozilla/5.0 (compatible; "X" \) allow https://example.com/`},
		{UserAgent: "curl/8.7", URL: "/b", Expected: Allow, Line: 5, Name: "curl/8.7 allow /b"},
		{Token: "*", URL: "/c", Expected: Disallow, Line: 6, Name: "* disallow /c"},
		{URL: "/d", Expected: Allow, Name: "nobody", Line: 7},
		{Token: "GPTBot", URL: "/e", Expected: Disallow, Line: 8, Name: "GPTBot disallow /e"},
		{Token: "*", URL: "/x", Expected: "train-ai=n", Line: 9, Name: "* train-ai=n /x"},
		{Token: "GPTBot", URL: "https://example.com/x", Expected: "search=unknown", Line: 10, Name: "GPTBot search=unknown https://example.com/x"},
		{Token: "expect", URL: "/x", Expected: Allow, Line: 11, Name: "expect allow /x"},
		{UserAgent: "a b", URL: "/f", Expected: "ai-use=y", Line: 12, Name: "a b ai-use=y /f"},
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

func TestReadCasesErrors(t *testing.T) {
	for _, tc := range []struct{ name, table, says string }{
		{"nothing", "", "c.txt: the file has no cases"},
		{"comments only", "# a\n\n", "the file has no cases"},
		{"two fields", "ok /a allow\nGooglebot /a\n", "c.txt:2: 2 fields instead of three"},
		{"a User-Agent without quotes", "Mozilla/5.0 (compatible) /a allow", "c.txt:1: 4 fields"},
		{"another word", "Googlebot /a maybe", `c.txt:1: "maybe" is not allow, disallow`},
		{"no path", "Googlebot a.html allow", `c.txt:1: "a.html" is neither a URL nor a path`},
		{"an open quote", `"Googlebot /a allow`, "c.txt:1: a quote is not closed"},
		{"a quote within a field", `"Google"bot /a allow`, "c.txt:1: 4 fields instead of three"},
		{"broken JSON", `{"token":`, "c.txt:1: not a JSON object"},
		{"two JSON objects", `{"token":"x","url":"/","expect":"allow"} {"token":"y","url":"/","expect":"allow"}`, "c.txt:1: text after the JSON object"},
		{"a JSON object and a word", `{"token":"x","url":"/","expect":"allow"} x`, "c.txt:1: text after the JSON object"},
		{"an unknown field", `{"agent":"x","url":"/","expect":"allow"}`, `unknown field "agent"`},
		{"two clients", `{"token":"x","user_agent":"y","url":"/","expect":"allow"}`, "both"},
		{"no client", `{"url":"/","expect":"allow"}`, "neither"},
		{"no expectation", `{"token":"x","url":"/"}`, `"" is not allow, disallow`},
		{"a preference for a word", "* x train-ai=n", `c.txt:1: "x" is neither a URL`},
		{"a label of an older draft", "* / train-genai=n", `c.txt:1: "train-genai=n" is not allow, disallow or a preference`},
		{"a label of none", "* / Train-AI=n", `c.txt:1: "Train-AI=n" is not allow, disallow or a preference; write train-ai`},
		{"a value of another line", "* / train-ai=no", `c.txt:1: "train-ai=no" is not allow, disallow or a preference`},
		{"two preferences", `{"token":"x","url":"/","expect":"train-ai=n, search=y"}`, `"train-ai=n, search=y" is not allow`},
		{"two errors", "a\nb\n", "c.txt:2: 1 fields"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := ReadCases("c.txt", []byte(tc.table)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%.300v, want %q", err, tc.says)
			}
		})
	}
}

func FuzzReadCases(f *testing.F) {
	f.Add("Googlebot / allow\n\"a \\\" b\" /x disallow\n{\"token\":\"x\"}")
	f.Fuzz(func(t *testing.T, table string) {
		cases, err := ReadCases("x", []byte(table))
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

// reportOf returns a report of three results.
func reportOf() *CaseReport {
	r := new(CaseReport)
	r.Add(CaseResult{Case: Case{Name: "Googlebot allow /a#b", Token: "Googlebot", URL: "/a#b", Expected: Allow, File: "a.txt", Line: 1}, Actual: Allow})
	r.Add(CaseResult{
		Case:   Case{Name: "x\x1b<&>\" disallow /", UserAgent: "x\x1b<&>\"", URL: "/", Expected: Disallow, File: "a.txt", Line: 2},
		Actual: Allow, DecisiveLine: "no rule of group \"*\"\nmatches", Note: "what\nof it",
	})
	r.Add(CaseResult{Case: Case{Name: "a name", Token: "b", URL: "/", Expected: "train-ai=n", File: "b.txt", Line: 7}, Actual: "train-ai=n"})
	return r
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
	if reportOf().WriteText(&got); got.String() != want {
		t.Errorf("got\n%s, want\n%s", got.String(), want)
	}
}

func TestCaseCounts(t *testing.T) {
	if r := reportOf(); r.Passed != 2 || r.Failed != 1 || len(r.Cases) != 3 || r.Cases[1].Passed || !r.Cases[2].Passed {
		t.Errorf("%+v", r)
	}
}
