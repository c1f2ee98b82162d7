package policy

import (
	"fmt"
	"strings"
	"testing"
)

// googleGroups combines the example in Google's section "Grouping of lines and rules" with RFC 9309
// section 5.1.
const googleGroups = `user-agent: a
disallow: /c

user-agent: b
disallow: /d

user-agent: e
user-agent: f
disallow: /g

user-agent: h
`

func TestGroups(t *testing.T) {
	const named = "User-agent: googlebot-news\nDisallow: /1\nUser-agent: *\nDisallow: /2\nUser-agent: googlebot\nDisallow: /3\n"
	const merged = "User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: a\nDisallow: /3\nUser-agent: *\nDisallow: /4\nUser-agent: * \nDisallow: /5\n"
	checkRows(t, []judgeRow{
		{"Google's grouping: one name", googleGroups, "a", "/c", false},
		{"Google's grouping: the next group's rule", googleGroups, "a", "/d", true},
		{"Google's grouping: the second of two groups", googleGroups, "b", "/d", false},
		{"Google's grouping: the first of two names", googleGroups, "e", "/g", false},
		{"Google's grouping: the second of two names", googleGroups, "f", "/g", false},
		{"Google's grouping: no rule", googleGroups, "h", "/g", true},
		{"Google's grouping: not named", googleGroups, "i", "/c", true},

		{"Google's precedence of user agents: the most specific group", named, "googlebot-news", "/1", false},
		{"Google's precedence of user agents: and no other", named, "googlebot-news", "/3", true},
		{"Google's precedence of user agents: the named one before *", named, "googlebot", "/2", true},
		{"Google's precedence of user agents: *", named, "otherbot", "/2", false},

		{"RFC 2.2.1: matching groups are combined, first part", merged, "a", "/1", false},
		{"RFC 2.2.1: matching groups are combined, second part", merged, "a", "/3", false},
		{"RFC 2.2.1: groups of others are not", merged, "a", "/2", true},
		{"RFC 2.2.1: a named group and * are never combined", merged, "a", "/4", true},
		{"RFC 2.2.1: * applies where nothing else does", merged, "c", "/4", false},
		{"groups of * are combined", merged, "c", "/5", false},
		{"RFC 2.2.1: no group and no *: no rules", "User-agent: a\nDisallow: /\n", "b", "/", true},
		{"RFC 2.2.1: names compare without case", "User-agent: ExampleBot\nDisallow: /\n", "examplebot", "/", false},
		{"RFC 2.2.1: * with a comment", "User-agent: * # all\nDisallow: /\n", "b", "/", false},
		{"* and text is the global group", "User-agent: * all of you\nDisallow: /\n", "b", "/", false},
		{"*bot names nobody", "User-agent: *bot\nDisallow: /\n", "bot", "/", true},
		{"names that reduce to one token are combined", "User-agent: a/1\nDisallow: /1\nUser-agent: a*\nDisallow: /2\n", "a", "/1", false},
		{"names that reduce to one token are combined, second part", "User-agent: a/1\nDisallow: /1\nUser-agent: a*\nDisallow: /2\n", "a", "/2", false},
		{"a group without rules spares its crawler *", "User-agent: *\nDisallow: /\nUser-agent: a\n", "a", "/", true},
		{"an empty token is judged by *", "User-agent: a\nAllow: /\nUser-agent: *\nDisallow: /\n", "", "/x", false},
		{"the token * is judged by *", "User-agent: a\nAllow: /\nUser-agent: *\nDisallow: /\n", "*", "/x", false},
	})
}

// TestChain selects by several tokens.
func TestChain(t *testing.T) {
	r := Parse([]byte("User-agent: Googlebot\nDisallow: /g\nUser-agent: *\nDisallow: /\nUser-agent: Googlebot-News\nDisallow:\n"))
	tests := []struct {
		name     string
		wildcard bool
		chain    []string
		want     string // the name of the group
	}{
		{"the token itself", true, []string{"Googlebot"}, "Googlebot"},
		{"its fallback", true, []string{"Googlebot-Image", "Googlebot"}, "Googlebot"},
		{"the first that is named, though it stands later in the file", true, []string{"Googlebot-News", "Googlebot"}, "Googlebot-News"},
		{"the first in the chain, not in the file", true, []string{"Googlebot", "Googlebot-News"}, "Googlebot"},
		{"*", true, []string{"Bingbot", "msnbot"}, "*"},
		{"exempt from *", false, []string{"AdsBot-Google"}, ""},
		{"exempt from * but named", false, []string{"AdsBot-Google", "Googlebot"}, "Googlebot"},
		{"no token", true, nil, "*"},
		{"no token and exempt", false, nil, ""},
		{"a token longer than every name", true, []string{strings.Repeat("Googlebot", 100)}, "*"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := r.Select(test.wildcard, test.chain...).FirstAgent().Name; got != test.want {
				t.Errorf("the group is %q, want %q", got, test.want)
			}
		})
	}
	if v := r.Select(false, "x").Judge("/g"); v != (Verdict{Allowed: true}) {
		t.Errorf("without a group the verdict is %+v", v)
	}
}

// TestNoToken checks that a token which names no crawler does not select the * group of a file with
// an unusual name, after the group was compiled.
func TestNoToken(t *testing.T) {
	r := Parse([]byte("User-agent: !\nUser-agent: *\nDisallow: /\n"))
	if r.Select(true, "x") == nil {
		t.Fatal("the * group was selected")
	}
	for _, token := range []string{"", "*", "longer than every name"} {
		if s := r.Select(false, token); s != nil || r.NamesToken(token) {
			t.Errorf("%q selects the group %+v", token, s.FirstAgent())
		}
	}
}

// TestAmbiguousGroups checks extension lines between user-agent lines.
func TestAmbiguousGroups(t *testing.T) {
	const file = `User-agent: a
Crawl-delay: 1
User-agent: b
Disallow: /x
Disallow: /y

User-agent: a
Disallow: /y
Allow: /x/open
`
	type want struct{ allowed, ambiguous bool }
	tests := []struct {
		name, robots, token, target string
		want                        want
	}{
		{"extensions ignored forbids, extensions split allows: allowed", file, "a", "/x", want{true, true}},
		{"both forbid", file, "a", "/y", want{false, false}},
		{"both allow", file, "a", "/z", want{true, false}},
		{"the name after the line is not contested", file, "b", "/x", want{false, false}},
		{"extensions ignored allows, extensions split forbids: allowed", "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nAllow: /x\nUser-agent: a\nDisallow: /\n", "a", "/x", want{true, true}},
		{"*, too", "User-agent: *\nCrawl-delay: 1\nUser-agent: b\nDisallow: /\n", "c", "/", want{true, true}},
		{"the last of several lines counts", "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 1\nUser-agent: c\nDisallow: /\n", "b", "/", want{true, true}},
		{"no group is left for a in the split reading, and * does not step in", "User-agent: a\nNoindex: /\nUser-agent: b\nAllow: /\nUser-agent: *\nDisallow: /\n", "a", "/", want{true, false}},
		{"the crawler is named on both sides", "User-agent: a\nCrawl-delay: 1\nUser-agent: a/2\nDisallow: /\n", "a", "/", want{false, false}},
		{"a line after the last name does not count", "User-agent: a\nUser-agent: b\nCrawl-delay: 1\nDisallow: /\n", "a", "/", want{false, false}},
		{"a line before the first name does not count", "Crawl-delay: 1\nUser-agent: a\nUser-agent: b\nDisallow: /\n", "a", "/", want{false, false}},
		{"a Sitemap line does not count", "User-agent: a\nSitemap: x\nUser-agent: b\nDisallow: /\n", "a", "/", want{false, false}},
		{"an unknown line does not count", "User-agent: a\nFoo: x\nUser-agent: b\nDisallow: /\n", "a", "/", want{false, false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := Parse([]byte(test.robots)).Select(true, test.token).Judge(test.target)
			if got := (want{v.Allowed, v.Ambiguous}); got != test.want {
				t.Errorf("got %+v by %v, want %+v", got, v.Rule, test.want)
			}
		})
	}
	if groups := Parse([]byte(file)).Groups(); !groups[0].Ambiguous || groups[1].Ambiguous {
		t.Errorf("ambiguous: %t and %t, want true and false", groups[0].Ambiguous, groups[1].Ambiguous)
	}
}

// TestMergingChangesNothing writes the rules of one crawler into one group, into several, and in
// another order. The verdicts are equal.
func TestMergingChangesNothing(t *testing.T) {
	rules := strings.SplitAfter(strings.TrimSpace(generateRules(300, 40, 7))+"\n", "\n")
	rules = rules[:len(rules)-1]
	whole := Parse([]byte("User-agent: a\n" + strings.Join(rules, "") + "\nUser-agent: *\nDisallow: /\n"))
	var parts, reversed strings.Builder
	for i := range rules {
		if i%7 == 0 {
			fmt.Fprintf(&parts, "User-agent: other%d\nDisallow: /\n\nUser-agent: a\n", i)
		}
		parts.WriteString(rules[i])
		fmt.Fprintf(&reversed, "User-agent: a\n%s", rules[len(rules)-1-i])
	}
	parts.WriteString("User-agent: *\nDisallow: /\n")
	others := []*Robots{Parse([]byte(parts.String())), Parse([]byte(reversed.String()))}
	for _, target := range generateTargets(1000, 8) {
		want := whole.Select(true, "a").Judge(target)
		for i, r := range others {
			got := r.Select(true, "a").Judge(target)
			if got.Allowed != want.Allowed || i == 0 && got.Rule.String() != want.Rule.String() {
				t.Fatalf("%q: allowed %t by %v in file %d, %t by %v in one group", target, got.Allowed, got.Rule, i, want.Allowed, want.Rule)
			}
		}
	}
}
