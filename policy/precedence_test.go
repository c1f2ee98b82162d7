package policy

import (
	"os"
	"testing"
)

// TestPaths checks Google's table of example path matches.
func TestPaths(t *testing.T) {
	tests := []struct {
		rule            string
		matches, misses []string
	}{
		{"/", []string{"/", "/a", "/?x"}, nil},
		{"/*", []string{"/", "/a", "/?x"}, nil},
		{"/$", []string{"/"}, []string{"/a", "/?x"}},
		{"/fish", []string{"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=anything"},
			[]string{"/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"}},
		{"/fish*", []string{"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=anything"},
			[]string{"/Fish.asp", "/catfish", "/?id=fish"}},
		{"/fish/", []string{"/fish/", "/fish/?id=anything", "/fish/salmon.htm"}, []string{"/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"}},
		{"/*.php", []string{"/index.php", "/filename.php", "/folder/filename.php", "/folder/filename.php?parameters", "/folder/any.php.file.html", "/filename.php/"},
			[]string{"/", "/windows.PHP"}},
		{"/*.php$", []string{"/filename.php", "/folder/filename.php"}, []string{"/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"}},
		{"/fish*.php", []string{"/fish.php", "/fishheads/catfish.php?parameters"}, []string{"/Fish.PHP"}},

		// RFC 9309 section 2.2.3.
		{"/this/*/exactly", []string{"/this/a/exactly", "/this//exactly/x", "/this/a/b/exactly2"}, []string{"/this/exactly", "/this/a/Exactly"}},
		{"/foo-$", []string{"/foo-"}, []string{"/foo-$", "/foo-/", "/foo-x"}},

		// Wildcards at the edges.
		{"*", []string{"/", "/a"}, nil},
		{"*$", []string{"/", "/a"}, nil},
		{"**", []string{"/", "/a"}, nil},
		{"*/a", []string{"/a", "/b/a", "/b/ab"}, []string{"/b", "/ba"}},
		{"*a$", []string{"/a", "/ba", "/a/a"}, []string{"/ab", "/"}},
		{"/a*$", []string{"/a", "/ab"}, []string{"/b"}},
		{"/a**b", []string{"/ab", "/axb", "/a*b"}, []string{"/a"}},
		{"/a*b*c", []string{"/abc", "/axbxc", "/abbcc"}, []string{"/acb", "/ab"}},
		{"/$x", []string{"/$x", "/$xy"}, []string{"/", "/x"}},
		{"/*$x", []string{"/a$x", "/$xy"}, []string{"/", "/a"}},
		{"/a$$", []string{"/a$"}, []string{"/a", "/a$$"}},
		{"/a*$*", []string{"/a$", "/ab$c"}, []string{"/a"}},

		// The suffix must not overlap what comes before it.
		{"/ab*b$", []string{"/abb", "/abxb"}, []string{"/ab"}},
		{"/*ab*b$", []string{"/abb", "/xabxb"}, []string{"/ab", "/xab"}},
		{"/*aba*aba$", []string{"/abaaba", "/abaxaba"}, []string{"/ababa", "/aba"}},
		{"/*a*a$", []string{"/aa", "/aba"}, []string{"/a"}},
		// The first parts match leftmost, which leaves most bytes for the other parts.
		{"/*ab*cd*ef", []string{"/ababcdcdef"}, []string{"/cdabef", "/abcdabe"}},

		// Rules that match nothing.
		{"fish", nil, []string{"/fish", "/"}},
		{"$", nil, []string{"/"}},
		{"", nil, []string{"/", "/a"}},
		{"http://example.com/a", nil, []string{"/a", "/http://example.com/a"}},
		{"%2Fa", nil, []string{"/a", "/%2Fa"}},
	}
	for _, test := range tests {
		s := Parse([]byte("User-agent: *\nDisallow: "+test.rule+"\n")).Select(true, "x")
		for _, target := range test.matches {
			if s.Judge(target).Allowed {
				t.Errorf("%q should match %q", test.rule, target)
			}
		}
		for _, target := range test.misses {
			if !s.Judge(target).Allowed {
				t.Errorf("%q should not match %q", test.rule, target)
			}
		}
	}
}

func TestPrecedence(t *testing.T) {
	group := func(rules string) string { return "User-agent: *\n" + rules }
	checkRows(t, []judgeRow{
		// Google's table "Order of precedence for rules".
		{"Google: the longer allow", group("allow: /p\ndisallow: /\n"), "x", "/page", true},
		{"Google: equal, the least restrictive", group("allow: /folder\ndisallow: /folder\n"), "x", "/folder/page", true},
		{"Google: the longer disallow", group("allow: /page\ndisallow: /*.htm\n"), "x", "/page.htm", false},
		{"Google: equal length with a wildcard", group("allow: /page\ndisallow: /*.ph\n"), "x", "/page.php5", true},
		{"Google: the anchored allow", group("allow: /$\ndisallow: /\n"), "x", "/", true},
		{"Google: the anchored allow, another page", group("allow: /$\ndisallow: /\n"), "x", "/page.htm", false},

		// RFC 9309 section 2.2.2 and the example of section 5.2.
		{"RFC 2.2.2: no match allows", group("Disallow: /x\n"), "x", "/y", true},
		{"RFC 2.2.2: no rule allows", group(""), "x", "/y", true},
		{"RFC 2.2.2: an empty disallow allows", group("Disallow:\n"), "x", "/y", true},
		{"RFC 2.2.2: an empty allow does not lift a disallow", group("Disallow: /\nAllow:\n"), "x", "/y", false},
		{"RFC 2.2.2: match from the start of the path", group("Disallow: /x\n"), "x", "/y/x", true},
		{"RFC 2.2.2: equivalent rules, allow", group("Disallow: /x\nAllow: /x\n"), "x", "/x", true},
		{"RFC 2.2.2: /robots.txt is allowed", group("Disallow: /\n"), "x", "/robots.txt", true},
		{"RFC 5.2: the longest match", "User-agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n", "foobot", "/example/page/disallowed.gif", false},
		{"RFC 5.2: the shorter one elsewhere", "User-agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n", "foobot", "/example/page/other.gif", true},
		{"RFC 5.1: foobot", "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n", "foobot", "/example/page.html", true},
		{"RFC 5.1: foobot, forbidden", "User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n", "foobot", "/publications/", false},
		{"RFC 5.1: others", "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n", "bar", "/publications/a.gif", true},
		{"RFC 5.1: others, another picture", "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n", "bar", "/a.gif", false},
		{"RFC 5.1: no rules at all", "User-Agent: quxbot\nUser-Agent: bazbot\n", "quxbot", "/", true},

		// The length of a rule.
		{"the order of rules does not matter", group("Disallow: /a\nAllow: /ab\nDisallow: /abc\n"), "x", "/abcd", false},
		{"every star counts", group("Disallow: /a***\nAllow: /abc\n"), "x", "/abc", false},
		{"a dollar counts", group("Disallow: /ab$\nAllow: /ab\n"), "x", "/ab", false},
		{"the canonical form counts, not the escape as written", group("Disallow: /%61%62\nAllow: /abc\n"), "x", "/abc", true},
		{"the canonical form counts, not the raw byte", group("Disallow: /\u00e9\nAllow: /*****\n"), "x", "/\u00e9", false},

		// All forms of the target are compared together.
		{"an allow for the escaped form beats a shorter disallow for the decoded", group("Allow: /wiki/AC%2FDC\nDisallow: /wiki/AC/\n"), "x", "/wiki/AC%2FDC", true},
		{"but not for the decoded path", group("Allow: /wiki/AC%2FDC\nDisallow: /wiki/AC/\n"), "x", "/wiki/AC/DC", false},
		{"a disallow for the decoded form", group("Disallow: /wiki/AC/\n"), "x", "/wiki/AC%2FDC", false},
		{"a rule about %2F is none about /", group("Disallow: /*%2F\n"), "x", "/a/b", true},
		{"a disallow rule does not match an escaped query", group("Disallow: /*?u=http://\n"), "x", "/x?u=http:%2f%2fa", true},
		{"a disallow rule does not match a raw query", group("Disallow: /*?u=http:%2F%2F\n"), "x", "/x?u=http://a", true},
		{"a disallow rule with an escape and a wildcard does not match a raw query", group("Disallow: /*%2F*\n"), "Googlebot", "/?p=a/b", true},
		{"a disallow rule with an escape does not match a raw query", group("Disallow: /?p=a%2Fb\n"), "Googlebot", "/?p=a/b", true},
		{"a disallow rule does not match an escaped question mark", group("Disallow: /?a?b\n"), "x", "/?a%3Fb", true},
		{"a disallow rule matches the query as sent", group("Disallow: /*%2F*\n"), "Googlebot", "/?p=a%2fb", false},
		{"an allow rule matches an escaped query", group("Disallow: /\nAllow: /*?u=http://\n"), "x", "/x?u=http:%2f%2fa", true},
		{"an allow rule matches a raw query", group("Disallow: /\nAllow: /*?u=http:%2F%2F\n"), "x", "/x?u=http://a", true},

		// Google's index rule.
		{"index.html allows its directory", group("Allow: /a/index.html\nDisallow: /a\n"), "x", "/a/", true},
		{"index.htm, too", group("Allow: /a/index.htm\nDisallow: /a\n"), "x", "/a/", true},
		{"with an end, too", group("Allow: /a/index.html$\nDisallow: /a\n"), "x", "/a/", true},
		{"with a wildcard, too", group("Allow: /*/index.html\nDisallow: /a\n"), "x", "/a/", true},
		{"the directory exactly", group("Allow: /a/index.html\nDisallow: /a\n"), "x", "/a/b", false},
		{"with no query", group("Allow: /a/index.html\nDisallow: /a\n"), "x", "/a/?b", false},
		{"the root", group("Allow: /index.html\nDisallow: /\n"), "x", "/", true},
		{"it has the length of the directory and its end", group("Allow: /a/index.html\nDisallow: /a/**\n"), "x", "/a/", false},
		{"a disallow says nothing about the directory", group("Disallow: /a/index.html\n"), "x", "/a/", true},
		{"another name says nothing", group("Allow: /a/index.php\nDisallow: /a\n"), "x", "/a/", false},
	})
}

// TestEvidence checks all fields of a verdict.
func TestEvidence(t *testing.T) {
	const file = `User-agent: b/1
User-agent: a/2
Disallow: /x
Allow: /x/%6Fpen #

User-agent: *
Disallow: /

User-agent: A
Disallow: /x
Disallow: /y*z
Disallow: /wiki/*/edit
Disallow: /plain/dir/
Allow: /d/index.html
Disallow: /d
Disallow: /*?u=/edit
Disallow: /*?v=%2Fedit
`
	a1, a2 := Agent{"a/2", 2}, Agent{"A", 9}
	tests := []struct {
		name, token, target string
		want                Verdict
	}{
		{"no rule of its group matches", "a", "/none", Verdict{Allowed: true, Group: a1}},
		{"the earliest of equal rules", "a", "/x", Verdict{Rule: Rule{false, "/x", 3}, Group: a1}},
		{"the rule as written", "a", "/x/open", Verdict{Allowed: true, Rule: Rule{true, "/x/%6Fpen", 4}, Group: a1}},
		{"a rule of a merged group has that group's line", "a", "/ybz", Verdict{Rule: Rule{false, "/y*z", 11}, Group: a2}},
		{"another name of the same group", "b", "/x", Verdict{Rule: Rule{false, "/x", 3}, Group: Agent{"b/1", 1}}},
		{"*", "c", "/y", Verdict{Rule: Rule{false, "/", 7}, Group: Agent{"*", 6}}},
		{"the form that matched: slashes", "a", "/plain%2Fdir/", Verdict{Rule: Rule{false, "/plain/dir/", 13}, Group: a2, Normalization: SlashesDecoded}},
		{"the form that matched: dots", "a", "/q/../x", Verdict{Rule: Rule{false, "/x", 3}, Group: a1, Normalization: DotSegmentsResolved}},
		{"the first form among those that match", "a", "/x//y", Verdict{Rule: Rule{false, "/x", 3}, Group: a1}},
		{"by a wildcard only decoded: ambiguous", "a", "/wiki/AC%2Fedit", Verdict{Rule: Rule{false, "/wiki/*/edit", 12}, Group: a2, Normalization: SlashesDecoded, Ambiguous: true}},
		{"not by the decoded query", "a", "/s?u=%2Fedit", Verdict{Allowed: true, Group: a1}},
		{"not by the encoded query", "a", "/s?v=/edit", Verdict{Allowed: true, Group: a1}},
		{"by a wildcard as it is", "a", "/wiki/AC/edit", Verdict{Rule: Rule{false, "/wiki/*/edit", 12}, Group: a2}},
		{"the index rule names the rule it comes from", "a", "/d/", Verdict{Allowed: true, Rule: Rule{true, "/d/index.html", 14}, Group: a2}},
		{"/robots.txt needs no rule", "c", "/robots.txt", Verdict{Allowed: true}},
	}
	r := Parse([]byte(file))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := r.Select(true, test.token).Judge(test.target); got != test.want {
				t.Errorf("%q for %s:\ngot  %+v\nwant %+v", test.target, test.token, got, test.want)
			}
		})
	}
	if got := r.Select(true, "a").FirstAgent(); got != a1 {
		t.Errorf("the group of a is %+v, want %+v", got, a1)
	}
	for rule, want := range map[Rule]string{{}: "", {true, "/a", 1}: "Allow: /a", {false, "", 2}: "Disallow: "} {
		if got := rule.String(); got != want {
			t.Errorf("%+v is written %q, want %q", rule, got, want)
		}
	}
}

// TestManyPatterns compares the index of many wildcard rules with the naive matcher. Fuzzing rarely
// writes enough rules.
func TestManyPatterns(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("LONG_TESTS") != "" {
		seeds = 10
	}
	for _, n := range []int{maxUnindexedPatterns, maxUnindexedPatterns + 3, 40, 400} {
		for seed := range seeds {
			r := Parse([]byte("User-agent: *\n" + generateRules(n, 90, seed)))
			for _, target := range generateTargets(40, seed) {
				compareWithNaive(t, r, "x", target)
			}
			short := Parse([]byte("User-agent: *\n" + generateShortRules(n, seed)))
			for _, target := range generateShortTargets(40, seed) {
				compareWithNaive(t, short, "x", target)
			}
		}
	}
}

// TestIndexSpreads counts the patterns that the index finds for a verdict by 10,000 rules.
func TestIndexSpreads(t *testing.T) {
	r := Parse([]byte("User-agent: *\n" + generateRules(10000, 40, 4)))
	w := &r.Select(true, "x").strict.matcher.patterns
	if len(w.patterns) < 3500 {
		t.Fatalf("only %d patterns", len(w.patterns))
	}
	if n := len(w.patterns) - len(w.index.patternsByGram); n > 0 {
		t.Errorf("%d patterns are not in the index", n)
	}
	for _, slot := range w.index.slots {
		if n := slot.to - slot.from; n > 40 {
			t.Errorf("%d patterns have the gram of %q", n, slot.surroundingBytes)
		}
	}
}
