package policy

import (
	"fmt"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	tests := []struct{ name, in, rule, target string }{
		// RFC 9309 section 2.2.2, the table of encodings.
		{"RFC 2.2.2: as it is", "/foo/bar?baz=quz", "/foo/bar?baz=quz", "/foo/bar?baz=quz"},
		{"RFC 2.2.2: a URL as a value", "/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar"},
		{"RFC 2.2.2: beyond ASCII", "/foo/bar/\u30c4", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"},
		{"RFC 2.2.2: beyond ASCII, escaped", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"},
		{"RFC 2.2.2: unreserved, escaped", "/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/bar/baz"},
		// RFC 9309 section 2.2.3, the table of special characters.
		{"RFC 2.2.3: escaped star", "/path/file-with-a-%2A.html", "/path/file-with-a-%2A.html", "/path/file-with-a-%2A.html"},
		{"RFC 2.2.3: escaped dollar", "/path/foo-%24", "/path/foo-%24", "/path/foo-%24"},

		{"unreserved", "/%2D%2e%5F%7e%30%41", "/-._~0A", "/-._~0A"},
		{"bytes that read the same raw", "/%21%27%28%29%2C%3B%3a%40", "/!'(),;:@", "/!'(),;:@"},
		{"bytes that do not", "/%2F%3F%26%3D%2B%23%25%2A%24", "/%2F%3F%26%3D%2B%23%25%2A%24", "/%2F%3F%26%3D%2B%23%25%2A%24"},
		{"the same bytes, raw", "/a/?&=+", "/a/?&=+", "/a/?&=+"},
		{"upper-case hex", "/%c3%a9%2f", "/%C3%A9%2F", "/%C3%A9%2F"},
		{"unsafe bytes", "/ \"<>\\^{}|`#[]", "/%20%22%3C%3E%5C%5E%7B%7D%7C%60%23%5B%5D", "/%20%22%3C%3E%5C%5E%7B%7D%7C%60%23%5B%5D"},
		{"controls", "/\x01\t\x1f\x7f", "/%01%09%1F%7F", "/%01%09%1F%7F"},
		{"NUL", "/\x00", "/%00", "/%00"},
		{"invalid UTF-8", "/\x80\xff", "/%80%FF", "/%80%FF"},
		{"stray percent", "/%", "/%25", "/%25"},
		{"percent and one digit", "/%4", "/%254", "/%254"},
		{"percent and no digits", "/%zz%4x%x4", "/%25zz%254x%25x4", "/%25zz%254x%25x4"},
		{"a stray percent before an escape", "/%%41", "/%25A", "/%25A"},
		{"decoded once only", "/%2541", "/%2541", "/%2541"},
		{"two escapes do not make a third", "/%%34%31", "/%2541", "/%2541"},
		{"star", "/a*b", "/a*b", "/a%2Ab"},
		{"dollar at the end", "/a$", "/a$", "/a%24"},
		{"dollar inside", "/a$b", "/a%24b", "/a%24b"},
		{"two dollars", "/a$$", "/a%24$", "/a%24%24"},
		{"dollar before a star", "/a$*", "/a%24*", "/a%24%2A"},
		{"nothing", "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(appendCanonical(nil, test.in, true)); got != test.rule {
				t.Errorf("the rule %q becomes %q, want %q", test.in, got, test.rule)
			}
			if got := string(appendCanonical(nil, test.in, false)); got != test.target {
				t.Errorf("the target %q becomes %q, want %q", test.in, got, test.target)
			}
			if got, want := isCanonicalRule(test.in), test.in == test.rule; got && !want {
				t.Errorf("isCanonical is true for the rule %q", test.in)
			}
		})
	}
}

// TestCanonicalBytes compares every byte, raw and escaped, with the naive implementation.
func TestCanonicalBytes(t *testing.T) {
	for c := range 256 {
		for _, s := range []string{string([]byte{byte(c)}), fmt.Sprintf("%%%02x", c), fmt.Sprintf("%%%02X", c)} {
			for _, isRule := range []bool{true, false} {
				in := "/" + s + "x"
				if got, want := string(appendCanonical(nil, in, isRule)), naiveCanonical(in, isRule); got != want {
					t.Errorf("%q (rule: %t) becomes %q, want %q", in, isRule, got, want)
				}
			}
		}
	}
}

// TestEncodings judges a target in all spellings that are equal by RFC 9309 section 2.2.2.
func TestEncodings(t *testing.T) {
	checkRows(t, []judgeRow{
		{"RFC 2.2.2: raw rule, escaped target", "User-agent: *\nDisallow: /foo/bar/\u30c4\n", "a", "/foo/bar/%E3%83%84", false},
		{"RFC 2.2.2: escaped rule, raw target", "User-agent: *\nDisallow: /foo/bar/%E3%83%84\n", "a", "/foo/bar/\u30c4", false},
		{"RFC 2.2.2: unreserved, rule escaped", "User-agent: *\nDisallow: /foo/bar/%62%61%7A\n", "a", "/foo/bar/baz", false},
		{"RFC 2.2.2: unreserved, target escaped", "User-agent: *\nDisallow: /foo/bar/baz\n", "a", "/foo/bar/%62%61%7a", false},
		{"RFC 2.2.2: case of the path matters", "User-agent: *\nDisallow: /Foo\n", "a", "/foo", true},
		{"RFC 2.2.3: %2A in a rule is a star in a target", "User-agent: *\nDisallow: /a-%2A.html\n", "a", "/a-*.html", false},
		{"RFC 2.2.3: %2A in a rule is not a wildcard", "User-agent: *\nDisallow: /a-%2A.html\n", "a", "/a-b.html", true},
		{"RFC 2.2.3: %24 in a rule is a dollar in a target", "User-agent: *\nDisallow: /foo-%24\n", "a", "/foo-$", false},
		{"RFC 2.2.3: %24 in a rule is no end", "User-agent: *\nDisallow: /foo-%24\n", "a", "/foo-", true},
		{"a star in a target is not a wildcard", "User-agent: *\nDisallow: /ab\n", "a", "/*", true},
		{"a dollar at the end of a target is data", "User-agent: *\nDisallow: /a$\n", "a", "/a$", true},
		{"Latin-1 is not UTF-8", "User-agent: *\nDisallow: /caf\xe9\n", "a", "/caf%C3%A9", true},
		{"a fragment of a URL is not sent", "User-agent: *\nDisallow: /a$\n", "a", "http://example.com/a#b", false},
		{"%26 is not &", "User-agent: *\nDisallow: /?a&b\n", "a", "/?a%26b", true},
		{"%2B is not +", "User-agent: *\nDisallow: /a+b\n", "a", "/a%2Bb", true},
		{"%3F is not ? in a path", "User-agent: *\nDisallow: /a?b\n", "a", "/a%3Fb", true},
		{"; belongs to the path", "User-agent: *\nDisallow: /a;x\n", "a", "/a%3bx=1", false},
	})
}

// TestReencoding checks that a disallowed target stays disallowed in every spelling that an origin
// may treat as equal.
func TestReencoding(t *testing.T) {
	const file = "User-agent: *\nAllow: /\nAllow: /public/\nDisallow: /private/\nDisallow: /*/secret.html\nDisallow: /shop/*?sort=(x)\nDisallow: /caf\u00e9/x;y=1,2:3\n"
	s := Parse([]byte(file)).Select(true, "a")
	for _, target := range []string{"/private/", "/private/a/b.html?x=1", "/a/secret.html", "/shop/a?sort=(x)", "/shop/public/?sort=(x)&y=z/w", "/caf%C3%A9/x;y=1,2:3"} {
		check := func(how, respelt string) {
			if v := s.Judge(respelt); v.Allowed {
				t.Errorf("%q is forbidden, %s %q is not", target, how, respelt)
			}
		}
		check("itself", target)
		check("the absolute form", "https://example.com"+target)
		path, query, _ := strings.Cut(target, "?")
		if query != "" {
			query = "?" + query
		}
		escaped := ""
		for i := range len(target) {
			c := target[i]
			escape := fmt.Sprintf("%%%02X", c)
			switch {
			case c == '%' || i > 0 && target[i-1] == '%' || i > 1 && target[i-2] == '%':
				escaped += string(c)
				check("in lower-case hex", target[:i]+strings.ToLower(string(c))+target[i+1:])
			case strings.IndexByte("?&=+", c) >= 0 || i == 0:
				escaped += string(c)
			case c == '/' && i < len(path):
				escaped += string(c)
				check("with %2F", target[:i]+escape+target[i+1:])
				check("with a backslash", target[:i]+"\\"+target[i+1:])
				check("with %5c", target[:i]+"%5c"+target[i+1:])
				check("with a doubled slash", target[:i]+"/"+target[i:])
				check("with many slashes", target[:i]+"//%2F/"+target[i:])
				check("with /./", target[:i]+"/."+target[i:])
				check("with /%2e/", target[:i]+"/%2e"+target[i:])
				check("with /.%2F", target[:i]+"/.%2F"+target[i+1:])
				check("with /public/..", target[:i]+"/public/.."+target[i:])
				check("with %2Fpublic%2F..", target[:i]+"%2Fpublic%2F%2e."+target[i:])
				check("with all of it", target[:i]+"/.//public%2f./%2e%2E/"+target[i:])
			default:
				escaped += escape
				check("escaped", target[:i]+escape+target[i+1:])
				check("escaped in lower case", target[:i]+strings.ToLower(escape)+target[i+1:])
			}
		}
		check("escaped throughout", escaped)
		check("after dots from nowhere", "/../.."+path+query)
		check("after /public/..", "/public/.."+path+query)
		check("after doubled slashes", "//"+path+query)
	}
}
