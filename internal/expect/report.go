package expect

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Result is the outcome of a case.
type Result struct {
	Case
	Got     bool              // true if the URL is allowed
	States  policy.Preference // the preference about the use of the case
	Because string            // the decisive line, in words
	Note    string            // a warning about the client; empty for none
}

// OK reports whether the result is as expected.
func (r Result) OK() bool { return r.got() == r.expected() }

// expected returns the word for the expected value, and got the word for the actual value.
func (r Result) expected() string { return r.says(r.Allowed, r.Stated) }
func (r Result) got() string      { return r.says(r.Got, r.States) }

// Formats returns the names of the report formats.
func Formats() []string { return []string{"tap", "junit", "json"} }

// Write prints a report in a format of [Formats].
func Write(w io.Writer, format string, results []Result) error {
	switch format {
	case "tap":
		return writeTAP(w, results)
	case "junit":
		return writeJUnit(w, results)
	case "json":
		return writeJSON(w, results)
	}
	return fmt.Errorf("unknown format %q; there are %s", format, strings.Join(Formats(), ", "))
}

// writeTAP prints the Test Anything Protocol, version 13.
func writeTAP(w io.Writer, results []Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 13\n1..%d\n", len(results))
	for i, r := range results {
		word := "ok"
		if !r.OK() {
			word = "not ok"
		}
		fmt.Fprintf(&b, "%s %d - %s\n", text.Paint(w, word), i+1, tapText(r.Title()))
		if !r.OK() {
			fmt.Fprintf(&b, "  ---\n  at: %s\n  expected: %s\n  got: %s\n  because: %s\n  ...\n",
				strconv.Quote(fmt.Sprintf("%s:%d", r.File, r.Line)), r.expected(), r.got(), strconv.Quote(r.Because))
		}
		if r.Note != "" {
			fmt.Fprintf(&b, "# %s\n", text.Printable(r.Note))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tapText escapes # in a description, since # could start a directive such as TODO.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(text.Printable(s))
}

// These are the elements of a JUnit report that test runners read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Failure *junitFailure `xml:"failure"`
		Note    string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit prints a suite for each file.
func writeJUnit(w io.Writer, results []Result) error {
	var all junitSuites
	for _, r := range results {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != r.File {
			all.Suites = append(all.Suites, junitSuite{Name: r.File})
		}
		suite := &all.Suites[len(all.Suites)-1]
		c := junitCase{Name: r.Title(), Class: r.File, File: r.File, Line: r.Line, Note: r.Note}
		if !r.OK() {
			c.Failure = &junitFailure{
				Message: fmt.Sprintf("expected %s, got %s", r.expected(), r.got()),
				Text:    fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Because),
			}
			suite.Failures++
			all.Failures++
		}
		suite.Cases = append(suite.Cases, c)
		suite.Tests++
		all.Tests++
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
