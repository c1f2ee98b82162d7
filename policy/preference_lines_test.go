package policy

import (
	"fmt"
	"strings"
	"testing"
)

// TestSurePreferences keeps what both readings of a file state, and nothing that only
// some parsers read, or that would be about the file itself.
func TestSurePreferences(t *testing.T) {
	for _, tc := range []struct{ name, robots, target, want string }{
		{"one reading", "User-agent: Foo\nContent-Usage: train-ai=n, search=y\n", "/x", "train-ai=n, search=y"},
		{"both say the same", "User-agent: Foo\nContent-Usage: train-ai=n\nDisalow: /y\n", "/x", "train-ai=n"},
		{"a misspelt key before its group", "useragent: Foo\nContent-Usage: train-ai=n, search=y\n\nUser-agent: *\nContent-Usage: search=y\n", "/x", "search=y"},
		{"no group but a misspelt one", "useragent: Foo\nContent-Usage: train-ai=n\n", "/x", ""},
		{"nothing", "User-agent: Foo\nDisallow: /y\n", "/x", ""},
		{"the file itself", "User-agent: Foo\nContent-Usage: train-ai=n\n", "/robots.txt?x", ""},
		{"as some servers read it", "User-agent: Foo\nContent-Usage: train-ai=n\n", "//robots.txt", ""},
		{"another of that name", "User-agent: Foo\nContent-Usage: train-ai=n\n", "/a/robots.txt", "train-ai=n"},
	} {
		var target Target
		target.Set(tc.target, false)
		if got := Parse([]byte(tc.robots)).Select(true, "Foo").SurePreferences(&target).String(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestDecidingIsQuick looks at thousands of lines, as a CMS writes them for its articles:
// those that are about other pages take no memory.
func TestDecidingIsQuick(t *testing.T) {
	for _, path := range []string{"/article/%d", "/article/%d*/x", "/art%%69cle/%d$"} {
		var text strings.Builder
		text.WriteString("User-agent: *\nDisallow: /x\nContent-Usage: train-ai=y\n")
		for i := 1000; i < 6000; i++ {
			fmt.Fprintf(&text, "Content-Usage: "+path+" train-ai=n\n", i)
		}
		group := Parse([]byte(text.String())).Select(true)
		var target Target
		target.Set("/article/2345", false)
		if path == "/article/%d*/x" {
			target.Set("/article/2345/a/x", false)
		}
		deciding := group.Deciding(&target)
		if len(deciding) != 1 || deciding[0].Line != 4+1345 {
			t.Fatalf("%s: decided by %v", path, deciding)
		}
		most := 100.0
		if strings.Contains(path, "%%") {
			most += 15_000 // what is no canonical path is made one
		}
		if n := testing.AllocsPerRun(3, func() { group.Deciding(&target) }); n > most {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

func TestHasContentUsage(t *testing.T) {
	for file, want := range map[string]bool{
		"User-agent: *\nDisallow: /x\n":              false,
		"Content-Usage: train-ai=n\n":                false, // of no group
		"User-agent: *\nContent-Usage: train-ai=n\n": true,
	} {
		if got := Parse([]byte(file)).HasContentUsage(); got != want {
			t.Errorf("%t, want %t of %q", got, want, file)
		}
	}
}
