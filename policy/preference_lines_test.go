package policy

import "testing"

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
