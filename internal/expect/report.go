package expect

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Result is the outcome of a case.
type Result struct {
	Case
	OK      bool   `json:"ok"` // whether Got is the expected value
	Got     string `json:"got"`
	Because string `json:"because"`        // the decisive line, in words
	Note    string `json:"note,omitempty"` // a remark about the client
}

// Report has the results of all cases.
type Report struct {
	Passed int      `json:"passed"`
	Failed int      `json:"failed"`
	Cases  []Result `json:"cases"`
}

// Add adds the result of a case. It sets OK.
func (r *Report) Add(result Result) {
	result.OK = result.Got == result.Expected
	if result.OK {
		r.Passed++
	} else {
		r.Failed++
	}
	r.Cases = append(r.Cases, result)
}

// WriteText writes the report in the Test Anything Protocol, version 13. The writer keeps an error, as
// a [text.Screen] does.
func (r *Report) WriteText(w io.Writer) {
	fmt.Fprintf(w, "TAP version 13\n1..%d\n", len(r.Cases))
	for i, c := range r.Cases {
		word := "ok"
		if !c.OK {
			word = "not ok"
		}
		fmt.Fprintf(w, "%s %d - %s\n", text.Colorize(w, word), i+1, escapeTAP(c.Name))
		if !c.OK {
			fmt.Fprintf(w, "  ---\n  at: %s\n  expected: %s\n  got: %s\n  because: %s\n  ...\n",
				strconv.Quote(fmt.Sprintf("%s:%d", c.File, c.Line)), c.Expected, c.Got, strconv.Quote(c.Because))
		}
		if c.Note != "" {
			fmt.Fprintf(w, "# %s\n", text.Printable(c.Note))
		}
	}
}

// escapeTAP escapes # in a description, since # could start a directive such as TODO.
func escapeTAP(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(text.Printable(s))
}
