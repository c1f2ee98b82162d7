package policy

import "testing"

func TestRulesDigest(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private\n"
	for _, tc := range []struct {
		name, other string
		same        bool
	}{
		{"the same file", file, true},
		{"a timestamp in a comment", "# generated 2026-01-01T00:00:00Z\n" + file, true},
		{"a comment behind a rule", "User-agent: * # all\nDisallow: /private # hidden\n", true},
		{"white space and line ends", "  User-agent: *\r\n\r\n\tDisallow: /private  \r\n", true},
		{"a byte order mark", "\ufeff" + file, true},
		{"another sitemap", file + "Sitemap: https://example.com/sitemap.xml\n", true},
		{"another rule", "User-agent: *\nDisallow: /public\n", false},
		{"another name", "User-agent: FooBot\nDisallow: /private\n", false},
		{"another delay", file + "Crawl-delay: 10\n", false},
		{"a rule that begins with a sitemap", file + "Disallow: /sitemap: x\n", false},
		{"rules on one line", "User-agent: *Disallow: /private\n", false},
	} {
		if got := Parse([]byte(tc.other)).RulesDigest() == Parse([]byte(file)).RulesDigest(); got != tc.same {
			t.Errorf("%s: same digest is %t, want %t", tc.name, got, tc.same)
		}
	}
	for _, without := range []string{"", "# nothing\n", "<!DOCTYPE html><p>2026-01-01", "Disallow: /", "Sitemap: https://example.com/"} {
		if r := Parse([]byte(without)); r.HasGroups() || r.RulesDigest() != Parse(nil).RulesDigest() {
			t.Errorf("%q has the digest of a file with rules", without)
		}
	}
	if !Parse([]byte("User-agent: *\nDisallow:\n")).HasGroups() {
		t.Error("a file that allows everything must have groups")
	}
}
