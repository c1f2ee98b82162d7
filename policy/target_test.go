package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTargetOf(t *testing.T) {
	tests := []struct{ url, want string }{
		{"", "/"},
		{"/", "/"},
		{"/a?b", "/a?b"},
		{"/a#b", "/a#b"},
		{"http://example.com", "/"},
		{"http://example.com/", "/"},
		{"http://example.com?q", "/?q"},
		{"http://example.com#f", "/"},
		{"http://example.com/a?b#c/d", "/a?b"},
		{"HTTPS://user:pw@[::1]:8443/a", "/a"},
		{"example.com", "/"},
		{"bob/a", "/a"},
		{"example.com/a?u=http://b/c", "/a?u=http://b/c"},
		{"/a?u=http://b/c", "/a?u=http://b/c"},
		{"?u=http://b/c", "/?u=http://b/c"},
		{"//a/b", "//a/b"},
		{"*", "/"},
		{"example.com:80", "/"},
		{"example.com:80/a", "/a"},
		{"example.com:80?b", "/?b"},
		{"x:a/b", "x:a/b"},
		{"http:a/b#c", "http:a/b"},
		{"x:80a/b", "x:80a/b"},
		{"#/b", "/"},
	}
	for _, test := range tests {
		if got := TargetFromURL(test.url); got != test.want {
			t.Errorf("TargetFromURL(%q) = %q, want %q", test.url, got, test.want)
		}
	}
}

func TestForms(t *testing.T) {
	tests := []struct {
		name, target string
		want         []string // the text, a space and the form
	}{
		{"plain", "/a/b.c?d=e&f", []string{"/a/b.c?d=e&f canonical"}},
		{"empty", "", []string{"/ canonical"}},
		{"absolute", "http://h/a", []string{"/a canonical"}},
		{"absolute without path", "http://h?q", []string{"/?q canonical"}},
		{"an empty query", "/a?", []string{"/a? canonical"}},
		{"escapes", "/%61%c3", []string{"/a%C3 canonical"}},
		{"# is data", "/a#b", []string{"/a%23b canonical"}},
		{"a dot in a name", "/.well-known/..x/.", []string{"/.well-known/..x/. canonical", "/.well-known/..x/ dots", "/.well-known/..x dots"}},
		{"names that start with a dot", "/.well-known/..x/x..", []string{"/.well-known/..x/x.. canonical"}},
		{"%2F", "/a%2fb", []string{"/a%2Fb canonical", "/a/b slashes"}},
		{"%5C", "/a%5cb", []string{"/a%5Cb canonical", "/a/b slashes"}},
		{"backslash", `/a\b`, []string{"/a%5Cb canonical", "/a/b slashes"}},
		{"runs of slashes", "//a///b//", []string{"//a///b// canonical", "/a/b/ slashes"}},
		{"a run through %2F", "/a%2F/b", []string{"/a%2F/b canonical", "/a/b slashes"}},
		{"slashes in the query stay", "/a?b//c", []string{"/a?b//c canonical", "/a?b%2F%2Fc query encoded"}},
		{"dots", "/a/./b/../c", []string{"/a/./b/../c canonical", "/a/c dots"}},
		{"dots at the end", "/a/b/..", []string{"/a/b/.. canonical", "/a/ dots", "/a dots"}},
		{"a dot at the end", "/a/b/.", []string{"/a/b/. canonical", "/a/b/ dots", "/a/b dots"}},
		{"an escaped dot at the end", "/a.pdf/%2e", []string{"/a.pdf/. canonical", "/a.pdf/ dots", "/a.pdf dots"}},
		{"a dot behind %2F at the end", "/a.pdf%2f%2e", []string{"/a.pdf%2F. canonical", "/a.pdf/. slashes", "/a.pdf/ slashes, dots", "/a.pdf slashes, dots"}},
		{"a dot behind doubled slashes", "/a.pdf//.", []string{"/a.pdf//. canonical", "/a.pdf/. slashes", "/a.pdf// dots", "/a.pdf/ dots", "/a.pdf slashes, dots"}},
		{"a slash behind dots stays", "/a.pdf/./", []string{"/a.pdf/./ canonical", "/a.pdf/ dots"}},
		{"slashes merged before and after dots", "/a//..%2Fb", []string{"/a//..%2Fb canonical", "/a/../b slashes", "/b slashes, dots", "/a/b slashes, dots"}},
		{"slashes merged before and after dots at the end", "/a/b//..%2F..?c", []string{"/a/b//..%2F..?c canonical", "/a/b/../..?c slashes", "/?c slashes, dots", "/a/?c slashes, dots", "/a?c slashes, dots"}},
		{"a scheme and no slash", "x:a/b.txt", []string{"/b.txt canonical", "/a/b.txt opaque"}},
		{"a scheme and no slash at all", "http:a?b", []string{"/?b canonical", "/a?b opaque"}},
		{"a scheme and nothing", "x:", []string{"/ canonical"}},
		{"a scheme and an escaped slash", "x:%2fa/b", []string{"/b canonical", "/%2Fa/b opaque", "/a/b slashes, opaque"}},
		{"a scheme and dots", "x:a/b/../c", []string{"/b/../c canonical", "/c dots", "/a/b/../c opaque", "/a/c dots, opaque"}},
		{"a scheme and a slash", "x:/a/b", []string{"/a/b canonical"}},
		{"all that may be in a scheme", "az0+9-1.:a/b", []string{"/b canonical", "/a/b opaque"}},
		{"a digit at the start of a scheme", "1x:a/b", []string{"/b canonical"}},
		{"! in a scheme", "x!:a/b", []string{"/b canonical"}},
		{"_ in a scheme", "x_:a/b", []string{"/b canonical"}},
		{"an empty scheme", ":a/b", []string{"/b canonical"}},
		{"an empty scheme and a host", "://h/a", []string{"/a canonical"}},
		{"dots above the root", "/../../a/..", []string{"/../../a/.. canonical", "/ dots"}},
		{"escaped dots", "/a/%2e%2E/b", []string{"/a/../b canonical", "/b dots"}},
		{"dots after a doubled slash", "/a//../b", []string{"/a//../b canonical", "/a/../b slashes", "/a/b dots", "/b slashes, dots"}},
		{"dots behind %2F", "/a%2F..%2Fb", []string{"/a%2F..%2Fb canonical", "/a/../b slashes", "/b slashes, dots"}},
		{"dots before %2F", "/a/..%2Fb", []string{"/a/..%2Fb canonical", "/a/../b slashes", "/b slashes, dots"}},
		{"dots behind %5C may be part of a name", "/a%5C..%5Cb", []string{"/a%5C..%5Cb canonical", "/a/../b slashes", "/b slashes, dots"}},
		{"both kinds of dots", "/a/./b%2F../c", []string{"/a/./b%2F../c canonical", "/a/./b/../c slashes", "/a/b%2F../c dots", "/a/c slashes, dots"}},
		{"%2F in a segment that dots remove", "/a%2Fb/../c", []string{"/a%2Fb/../c canonical", "/a/b/../c slashes", "/c dots", "/a/c slashes, dots"}},
		{"dots in the query are data", "/a?/../b", []string{"/a?/../b canonical", "/a?%2F..%2Fb query encoded"}},
		{"a question mark at the start of a query", "/a??b", []string{"/a??b canonical", "/a?%3Fb query encoded"}},
		{"a slash at the start of a query", "/a?/b", []string{"/a?/b canonical", "/a?%2Fb query encoded"}},
		{"query decoded", "/a?u=%2F%3f", []string{"/a?u=%2F%3F canonical", "/a?u=/? query decoded"}},
		{"query both ways", "/a?u=/%3F", []string{"/a?u=/%3F canonical", "/a?u=/? query decoded", "/a?u=%2F%3F query encoded"}},
		{"path and query", "/a%2Fb?c=/%2F", []string{
			"/a%2Fb?c=/%2F canonical", "/a%2Fb?c=// query decoded", "/a%2Fb?c=%2F%2F query encoded",
			"/a/b?c=/%2F slashes", "/a/b?c=// slashes, query decoded", "/a/b?c=%2F%2F slashes, query encoded"}},
		{"many forms", "/a/b//..%2F..?/%2F", []string{"/a/b//..%2F..?/%2F canonical", "/a/b//..%2F..?// query decoded", "/a/b//..%2F..?%2F%2F query encoded", "/a/b/../..?/%2F slashes", "/a/b/../..?// slashes, query decoded", "/a/b/../..?%2F%2F slashes, query encoded", "/?/%2F slashes, dots", "/?// slashes, dots, query decoded", "/?%2F%2F slashes, dots, query encoded", "/a/?/%2F slashes, dots", "/a/?// slashes, dots, query decoded", "/a/?%2F%2F slashes, dots, query encoded", "/a?/%2F slashes, dots", "/a?// slashes, dots, query decoded", "/a?%2F%2F slashes, dots, query encoded"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var target Target
			target.Set("/used//before/..%2F..?/%2F", false) // Set drops the previous target
			target.Set(test.target, false)
			var got []string
			for _, x := range target.variants() {
				got = append(got, fmt.Sprintf("%s %v", x.text, x.normalization))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("forms of %q:\ngot  %q\nwant %q", test.target, got, test.want)
			}
		})
	}
}

func TestKeepSlashes(t *testing.T) {
	s := Parse([]byte("User-agent: *\nDisallow: /a/b\n")).Select(true, "x")
	var target Target
	for _, test := range []struct {
		target            string
		merged, notMerged bool // allowed
	}{
		{"/a//b", false, true},
		{"//a/b", false, true},
		{"/a%2Fb", false, false},
		{"/a/b", false, false},
	} {
		target.Set(test.target, false)
		if v := s.JudgeTarget(&target); v.Allowed != test.merged || s.Allows(test.target, false) != test.merged {
			t.Errorf("%q with slashes merged: allowed %t", test.target, v.Allowed)
		}
		target.Set(test.target, true)
		if v := s.JudgeTarget(&target); v.Allowed != test.notMerged || s.Allows(test.target, true) != test.notMerged {
			t.Errorf("%q with keepSlashes: allowed %t", test.target, v.Allowed)
		}
	}
	if v := s.JudgeTarget(new(Target)); !v.Allowed {
		t.Error("the zero Target is disallowed")
	}
}

// TestDots judges targets with dot segments as sent and resolved. Neither opens
// what the other disallows.
func TestDots(t *testing.T) {
	const file = "User-agent: *\nAllow: /public/\nDisallow: /private/\n"
	for _, target := range []string{
		// Resolved.
		"/public/../private/x", "/public/%2e%2e/private/x", "/public/.%2E/private/x", "/public%2F../private/x",
		"/public/..%2Fprivate/x", "/public/x/../../private/x", "/public/./../private/x", "/public//../..//private/x",
		"/./private/", "/private/.", "/public//..%2F../private/x", "/x/..//private/x", "/public/..%5cprivate/x", "/.//private/x",
		// As sent.
		"/private/x/..", "/private/../public/x", "/private/x/../../public", "/private/%2e%2e/public/x", "/private/..%2Fx.txt", "/private%2F../public/x",
		"/private/x/../../.well-known/acme-challenge/a", "/private/..", "//private/../public/", "/private/..%5cpublic/x", "/private/..;/x",
	} {
		if v := Parse([]byte(file)).Select(true, "a").Judge(target); v.Allowed {
			t.Errorf("%q is allowed by %v", target, v.Rule)
		}
	}
	for _, target := range []string{"/public/x", "/public/./x", "/x/../public/", "/public/.../x", "/public/..x", "/x/../y", "/..", "/publicprivate/../x"} {
		if v := Parse([]byte(file)).Select(true, "a").Judge(target); !v.Allowed {
			t.Errorf("%q is disallowed by %v", target, v.Rule)
		}
	}
}

// TestEvasions judges targets that some server maps to a disallowed file.
func TestEvasions(t *testing.T) {
	s := Parse([]byte("User-agent: *\nDisallow: /*.pdf$\nDisallow: /private/\n")).Select(true, "a")
	for _, target := range []string{
		"/doc.pdf/.", "/doc.pdf/x/..", "/doc.pdf/%2e", "/doc.pdf/%2E", "/doc.pdf%2f%2e", "/doc.pdf%2F.", "/doc.pdf%5c.", "/doc.pdf//.", "/doc.pdf/x//..%2F..",
		"/a/../doc.pdf/.", "/private//..%2Fx.txt", "/private//..%2fx.txt", "/private//%2e%2e%2Fx.txt", "/private%2F/..%2Fx.txt",
		"/x%5Cy//../private/x.txt", "/x\\y//../private/x.txt", "/x%5Cy%2F../private/x.txt", "/x%2Fy//../private/x.txt", "/x%2F%5Cy//../../private/x.txt", "/a/x%5cy//../../private/x.txt",
		"x:private/x.txt", "http:private/x.txt", "HTTP:private/x.txt", "/private/..%2Fx.txt", "a+b-c.d:private/x.txt", "x:%70rivate/x.txt", "x:a/../private/x.txt", "x:doc.pdf",
	} {
		if v := s.Judge(target); v.Allowed {
			t.Errorf("%q is allowed", target)
		}
	}
	for _, target := range []string{
		"/doc.pdf/", "/doc.pdf/x", "/doc.pdf/..", "/doc.pdf/./", "/doc.pdf/.?x", "/doc.pdf/.x", "/doc.pdf/...", "x:/x.txt", "x:y/x.txt", "/x:private/x.txt",
	} {
		if v := s.Judge(target); !v.Allowed {
			t.Errorf("%q is disallowed by %v", target, v.Rule)
		}
	}
	var target Target
	target.Set("/private//..%2Fx.txt", true)
	if v := s.JudgeTarget(&target); v.Allowed {
		t.Error("with keepSlashes, dots must remove an empty segment")
	}
}

// TestNoPathOpensAnother judges targets that some servers resolve to a disallowed file, and others
// to a path that a longer rule allows.
func TestNoPathOpensAnother(t *testing.T) {
	s := Parse([]byte("User-agent: *\nDisallow: /private/\nAllow: /public/pages/\nDisallow: /wiki/\nAllow: /wiki/AC%2FDC\n")).Select(true, "a")
	for _, tc := range []struct {
		target  string
		allowed bool
		line    int
	}{
		{"/public/pages/b//c//../../../../private/x.txt", false, 2},
		{"/private/b//c//../../../../public/pages/y", false, 2}, // for a server that does not merge slashes
		{"/public/pages/a%5Cb%2F../../../private/x", false, 2},
		{"x:private/public/pages/y", false, 2},
		{"/public/pages/./y", true, 3},
		{"/public/pages/y/.", true, 3},
		{"/a//../public/pages/y", true, 3},
		{"/wiki/AC%2FDC", true, 5},
		{"/wiki/AC/DC", false, 4},
		{"/wiki/x/../AC%2FDC", false, 4}, // may be /wiki/AC/DC, but no client sends it
	} {
		if v := s.Judge(tc.target); v.Allowed != tc.allowed || v.Rule.Line != tc.line {
			t.Errorf("%q: allowed %t by line %d, want %t by %d", tc.target, v.Allowed, v.Rule.Line, tc.allowed, tc.line)
		}
	}
}

func TestRobotsTxtItself(t *testing.T) {
	s := Parse([]byte("User-agent: *\nDisallow: /\n")).Select(true, "a")
	for target, want := range map[string]bool{
		"/robots.txt": true, "/robots.txt?x=/y": true, "/robots.txt?": true, "/robots%2Etxt": true, "http://h/robots.txt": true,
		"/./robots.txt": false, "/robots.txt/.": false, "/x//..%2Frobots.txt": false, "x:private/robots.txt": false, "x:robots.txt": false, "/robots.txt/": false, "/robots.txt2": false, "/x/robots.txt": false, "/Robots.txt": false, "/robots.txt%3F": false, "/robots.txt/..": false,
	} {
		if v := s.Judge(target); v.Allowed != want {
			t.Errorf("%q: allowed %t, want %t", target, v.Allowed, want)
		}
		if s.Allows(target, false) != want {
			t.Errorf("%q: Allows is %t, want %t", target, !want, want)
		}
	}
}

// TestAllowRuleWithinAnEscape judges a query with a slash by an allow rule that matches only within
// the escape of the slash, with and without other methods called before.
func TestAllowRuleWithinAnEscape(t *testing.T) {
	s := Parse([]byte("User-agent: *\nDisallow: /x\nAllow: /x?*2\n")).Select(true, "a")
	for name, call := range map[string]func(*Target){
		"first":               func(*Target) {},
		"after Variants":      func(target *Target) { target.Variants() },
		"after MatchingRules": func(target *Target) { s.MatchingRules(target) },
	} {
		var target Target
		target.Set("/x?u=/a", false)
		if call(&target); !s.JudgeTarget(&target).Allowed || !s.Allows("/x?u=/a", false) {
			t.Errorf("%s: disallowed", name)
		}
	}
}

// TestLongTarget checks that a long target is matched whole.
func TestLongTarget(t *testing.T) {
	s := Parse([]byte("User-agent: *\nDisallow: /*secret$\nDisallow: /*/%C3%A9/x\n")).Select(true, "a")
	for _, target := range []string{"/" + strings.Repeat("a", 100_000) + "secret", strings.Repeat("/%C3%a9", 50_000) + "/x"} {
		if v := s.Judge(target); v.Allowed {
			t.Errorf("a target of %d bytes is allowed", len(target))
		}
	}
}
