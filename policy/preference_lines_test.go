package policy

import (
	"fmt"
	"strings"
	"testing"
)

// TestDecidingStatementsCost tests thousands of lines for articles, like those of a CMS. Lines
// for other pages do not allocate.
func TestDecidingStatementsCost(t *testing.T) {
	for _, path := range []string{"/article/%d", "/article/%d*/x", "/art%%69cle/%d$"} {
		var text strings.Builder
		text.WriteString("User-agent: *\nDisallow: /x\nContent-Usage: train-ai=y\n")
		for i := 1000; i < 6000; i++ {
			fmt.Fprintf(&text, "Content-Usage: "+path+" train-ai=n\n", i)
		}
		robots := Parse([]byte(text.String()))
		group := robots.Select(true)
		var target Target
		target.Set("/article/2345", false)
		if path == "/article/%d*/x" {
			target.Set("/article/2345/a/x", false)
		}
		deciding := robots.DecidingStatements(group, &target, "")
		if len(deciding) != 1 || deciding[0].Line != 4+1345 {
			t.Fatalf("%s: decided by %v", path, deciding)
		}
		most := 100.0
		if strings.Contains(path, "%%") {
			most += 15_000 // other paths are made canonical
		}
		if n := testing.AllocsPerRun(3, func() { robots.DecidingStatements(group, &target, "") }); n > most {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}
