package policy

import "testing"

func TestRestricts(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       bool
	}{
		{"everybody", "User-agent: *\nDisallow: /private/\n", true},
		{"one crawler", "User-agent: GPTBot\nDisallow: /\n", true},
		{"by a wildcard", "User-agent: *\nDisallow: *.pdf$\n", true},
		{"the second group", "User-agent: *\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /x\n", true},
		{"in Google's reading alone", "User-agent: *\nDisalow: /x\n", true},
		{"nothing at all", "", false},
		{"an empty rule", "User-agent: *\nDisallow:\n", false},
		{"Allow only", "User-agent: *\nAllow: /\n", false},
		{"a rule without a slash", "User-agent: *\nDisallow: private\n", false},
		{"no user-agent line", "Disallow: /\n", false},
		{"a name that is none", "User-agent:\nDisallow: /\n", false},
		{"a pattern that names nobody", "User-agent: *bot\nDisallow: /\n", false},
		{"a group without rules", "User-agent: *\nSitemap: https://example.com/s.xml\n", false},
	} {
		if got := Parse([]byte(tc.text)).Restricts(); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}
