package policy

import "testing"

// TestWellKnown judges paths below /.well-known/ by the rules for them.
func TestWellKnown(t *testing.T) {
	for _, tc := range []struct {
		rules, target string
		allowed       bool
	}{
		{"Disallow: /", "/.well-known/x", true},
		{"Disallow: /*", "/.well-known/x", true},
		{"Disallow: /.well-known", "/.well-known/x", true},
		{"Disallow: /*.json$", "/.well-known/x.json", true},
		{"Disallow: /.well-known/", "/.well-known/x", false},
		{"Disallow: /.well-known/x", "/.well-known/x", false},
		{"Disallow: /.well-known/x", "/.well-known/y", true},
		{"Disallow: /%2Ewell-known/x", "/.well-known/x", false},
		{"Disallow: /.well-known/*.json$", "/.well-known/x.json", false},
		{"Disallow: /.well-known/\nAllow: /.well-known/x", "/.well-known/x", true},
		{"Disallow: /.well-known/\nAllow: /.well-known/x", "/.well-known/y", false},
		{"Disallow: /.well-known/\nAllow: /", "/.well-known/x", false},
		{"Disallow: /\nAllow: /.well-known/x", "/.well-known/y", true},
		{"Disallow: /*/aaaaaaaaaaaaaaaaaaaaaaaaaaaa\nDisallow: /.well-known/", "/.well-known/aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
		{"Crawl-delay: 1\nUser-agent: b\nDisallow: /.well-known/", "/.well-known/x", true}, // parsers differ
		{"", "/.well-known/x", true},
	} {
		s := Parse([]byte("User-agent: *\n" + tc.rules + "\n")).Select(true)
		for range 2 { // compiled, and then cached
			if v := s.WellKnownGroup().Judge(tc.target); v.Allowed != tc.allowed {
				t.Errorf("%q, %s: %+v", tc.rules, tc.target, v)
			}
		}
	}
	if v := Parse(nil).Select(true).WellKnownGroup().Judge("/.well-known/x"); !v.Allowed {
		t.Errorf("without a group: %+v", v)
	}
}
