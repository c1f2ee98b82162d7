package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestInterpretations judges targets by files that parsers interpret differently.
// TestInterpretations compares a strict parser, Google's library, and the verdicts for a crawler
// and for a crawler of Google.
func TestInterpretations(t *testing.T) {
	type want struct{ crawler, google string } // the result of Judge; ? for an ambiguous verdict
	const (
		yes, no, maybe = "allowed", "forbidden", "allowed?"
	)
	for _, tc := range []struct {
		name, robots, token, target string
		want                        want
	}{
		{"a misspelt rule", "User-agent: *\nDisalow: /x\n", "a", "/x", want{maybe, no}},
		{"a misspelt rule, elsewhere", "User-agent: *\nDisalow: /x\n", "a", "/y", want{yes, yes}},
		{"a rule without a colon", "User-agent: *\nDisallow /x\n", "a", "/x", want{maybe, no}},
		{"an allow rule without a colon", "User-agent: *\nDisallow: /\nAllow /x\n", "a", "/x", want{maybe, yes}},
		{"both readings forbid by rules of their own", "User-agent: *\nDisalow: /shop/\nDisallow: /s\n", "a", "/shop/1", want{no, no}},
		{"a misspelt name for a group", "User-agent: a\nDisallow: /x\nuseragent: b\nDisallow: /y\n", "b", "/y", want{maybe, no}},
		{"and its rules, which the group before gets", "User-agent: a\nDisallow: /x\nuseragent: b\nDisallow: /y\n", "a", "/y", want{maybe, yes}},
		{"and the * group, which it is not spared", "User-agent: *\nDisallow: /x\nuser agent: b\nDisallow: /y\n", "b", "/x", want{maybe, yes}},
		{"forbidden by * for some, by its group for others", "User-agent: *\nDisallow: /\nuser agent: b\nDisallow: /y\n", "b", "/y", want{no, no}},
		{"a misspelt name in a run", "User-agent: a\nuseragent: b\nDisallow: /\n", "b", "/", want{maybe, no}},
		{"beside a misspelt name in a run", "User-agent: a\nuseragent: b\nDisallow: /\n", "a", "/", want{no, no}},
		{"a misspelt name at the top", "useragent: *\nDisallow: /\n", "a", "/", want{maybe, no}},
		{"a misspelt rule ends a run", "User-agent: a\nDisalow: /x\nUser-agent: b\nDisallow: /y\n", "a", "/y", want{maybe, yes}},
		{"and does not", "User-agent: a\nDisalow: /x\nUser-agent: b\nDisallow: /y\n", "b", "/y", want{no, no}},
		{"a misspelt rule that ended a run is for one name", "User-agent: a\nDisalow: /x\nUser-agent: b\nDisallow: /y\n", "a", "/x", want{maybe, no}},
		{"an empty rule without a colon is not a line of two words", "User-agent: a\nDisallow\nUser-agent: b\nDisallow: /y\n", "a", "/y", want{no, no}},
		{"an extension line", "User-agent: *\nCrawl-delay: 10\nUser-agent: badbot\nDisallow: /\n", "a", "/", want{maybe, maybe}},
		{"behind an extension line", "User-agent: *\nCrawl-delay: 10\nUser-agent: badbot\nDisallow: /\n", "badbot", "/", want{no, no}},
		{"an extension key in one word", "User-agent: *\nCrawlDelay: 10\nUser-agent: badbot\nDisallow: /\n", "a", "/", want{maybe, maybe}},
		{"an extension line without a colon", "User-agent: *\nCrawl-delay 10\nUser-agent: badbot\nDisallow: /\n", "a", "/", want{no, maybe}},
		{"an extension line and a misspelt rule", "User-agent: *\nCrawl-delay: 10\nUser-agent: badbot\nDisalow: /\n", "a", "/", want{maybe, maybe}},
		{"a misspelt rule behind an extension line", "User-agent: *\nCrawl-delay: 10\nUser-agent: badbot\nDisalow: /\n", "badbot", "/", want{maybe, no}},
		{"a sitemap that is misspelt", "User-agent: *\nsite-map: x\nUser-agent: badbot\nDisallow: /\n", "a", "/", want{no, no}},
		{"a key that Google's library reads by its beginning", "User-agent: *\nDisallowed: /\n", "a", "/", want{yes, yes}},
		{"a vertical tab between two words", "User-agent: *\nDisallow\v/\n", "a", "/", want{yes, yes}},
		{"a form feed behind a key", "User-agent: *\nDisallow\f: /\n", "a", "/", want{yes, yes}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Parse([]byte(tc.robots))
			verdictOf := func(s *SelectedGroup) string {
				v := s.Judge(tc.target)
				word := map[bool]string{true: "allowed", false: "forbidden"}[v.Allowed]
				if v.Ambiguous {
					word += "?"
				}
				return word
			}
			if got := (want{verdictOf(r.Select(true, tc.token)), verdictOf(r.SelectWithLenientKeys(true, tc.token))}); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			compareWithNaive(t, r, tc.token, tc.target)
		})
	}
}

// TestInterpretationsEvidence prefers a rule that every crawler reads.
func TestInterpretationsEvidence(t *testing.T) {
	s := Parse([]byte("User-agent: *\nDisalow: /shop/\nDisallow: /s\n")).Select(true, "a")
	if v := s.Judge("/shop/1"); v.Rule.Line != 3 || v.Ambiguous {
		t.Errorf("decided by line %d, ambiguous %t; want line 3, which all parsers accept", v.Rule.Line, v.Ambiguous)
	}
	s = Parse([]byte("User-agent: a\nCrawl-delay: 1\nUser-agent: a/2\nDisallow: /\n")).Select(true, "a")
	if v := s.Judge("/"); v.Group.Line != 3 {
		t.Errorf("the group's line is %d, want 3, which has the rule in both interpretations", v.Group.Line)
	}
}

// TestSelectedInterpretations splits a selection into both interpretations.
func TestSelectedInterpretations(t *testing.T) {
	list := func(s *SelectedGroup) string {
		if s == nil {
			return "none"
		}
		return fmt.Sprint(s.FirstAgent().Name, s.Rules(), s.NamesCrawler(), s.IsAmbiguous())
	}
	const file = "User-agent: *\nDisallow: /1\nuseragent: a\nDisalow: /2\nDisallow: /3\nUser-agent: b\nNoindex: /\nUser-agent: c\nDisallow: /4\n"
	r := Parse([]byte(file))
	for _, tc := range []struct {
		token           string
		wildcard        bool
		lenient, strict string
		ambiguous       bool
	}{
		{"a", true, "a[Disallow: /2 Disallow: /3] true false", "*[Disallow: /1 Disallow: /3] false false", true},
		{"a", false, "a[Disallow: /2 Disallow: /3] true false", "none", true},
		{"b", true, "b[Disallow: /4] true false", "b[] true false", true},
		{"c", true, "c[Disallow: /4] true false", "c[Disallow: /4] true false", false},
		{"d", true, "*[Disallow: /1] false false", "*[Disallow: /1 Disallow: /3] false false", true},
		{"d", false, "none", "none", false},
	} {
		s := r.Select(tc.wildcard, tc.token)
		lenient, strict := s.LenientAndStrict()
		if list(lenient) != tc.lenient || list(strict) != tc.strict || s.IsAmbiguous() != tc.ambiguous {
			t.Errorf("%s: %s, %s, %t; want %s, %s, %t", tc.token, list(lenient), list(strict), s.IsAmbiguous(), tc.lenient, tc.strict, tc.ambiguous)
		}
	}
	for _, tc := range []struct {
		a, b  *SelectedGroup
		equal bool
	}{
		{nil, nil, true}, {r.Select(true, "a"), nil, false}, {nil, r.Select(true, "a"), false},
		{r.Select(true, "d"), r.Select(true, "e"), true},
		{r.Select(true, "a"), r.Select(true, "A"), true},
		{r.Select(true, "a"), r.Select(false, "a"), false},
		{r.Select(true, "a"), r.SelectWithLenientKeys(true, "a"), false},
		{r.Select(true, "b"), r.Select(true, "c"), false},
	} {
		if got := tc.a.Equal(tc.b); got != tc.equal {
			t.Errorf("%s and %s are equal: %t", list(tc.a), list(tc.b), got)
		}
	}
	two := Parse([]byte("User-agent: e f\nUser-agent: g\nDisallow: /\nuser agent: *\n"))
	if !two.Select(true, "e").Equal(two.Select(true, "e f")) || two.Select(true, "e").Equal(two.Select(true, "g")) {
		t.Error("names with the same lines must be equal")
	}
	if s := r.SelectWithLenientKeys(true, "a"); s.IsAmbiguous() || len(s.Rules()) != 2 {
		t.Errorf("for a lenient crawler: %s", list(s))
	}
	if s := r.SelectWithLenientKeys(false, "d"); s != nil {
		t.Errorf("without a group: %s", list(s))
	}
}

// TestAmbiguousForms tests rules of only one interpretation, for forms that only some
// servers treat as equal.
func TestAmbiguousForms(t *testing.T) {
	for _, rules := range []string{
		"User-agent: *\nDisalow: /x?u=%2Fa\nDisallow: /z\n",
		"User-agent: *\nDisallow: /x?u=%2Fa\nuseragent: x\nDisallow: /z\n",
		"User-agent: *\nDisallow: /*a/b\nDisallow: /x*\n",
		"User-agent: *\nDisallow: /*a/b\nAllow: /x*\n",
		"User-agent: *\nDisallow: /*b\nAllow: /\n",
	} {
		r := Parse([]byte(rules))
		for _, target := range []string{"/x?u=/a", "/x?u=%2Fa", "/xa%2Fb", "/ya%2Fb", "/a%2F..%2Fb", "/a%2Fb", "/x?a%2Fb", "/y?a%2Fb"} {
			compareWithNaive(t, r, "x", target)
		}
	}
}

// TestOneInterpretation checks that a file has a second interpretation only if both differ.
func TestOneInterpretation(t *testing.T) {
	for robots, two := range map[string]bool{
		smallFile: false,
		"User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /\n": false, // the keys have one interpretation
		"User-agent: a\nDisallow: /\nCrawl-delay 1\nsite-map: x\n":    false,
		"User-agent: a\nDisallow: /\nSitemap x\nForbid /y\n":          false,
		"User-agent: a\nDisalow: /\n":                                 true,
	} {
		r := Parse([]byte(robots))
		if (r.withStrictKeys != nil) != two {
			t.Errorf("%q: second interpretation: %t", robots, !two)
		}
		if two && r.Size() < Parse([]byte("User-agent: a\nDisallow: /\n")).Size()+500 {
			t.Errorf("%q: Size %d excludes the second interpretation", robots, r.Size())
		}
	}
}

// TestInterpretationsAgainstNaive compares files with ambiguous lines with the naive implementation.
func TestInterpretationsAgainstNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	lines := []string{
		"User-agent: a", "User-agent: b", "User-agent: *", "useragent: a", "user agent: *", "User-agent b", "User-agent\v: a", "User-agent: a\f", "User-agent: *\v",
		"Disallow: /x", "Disallow: /", "Allow: /x/y", "Disallow:", "Disalow: /x", "dissallow: /x/y", "Allow /x", "Disallow /", "Disallow\t/x", "Disallow\f/", "Disallow /x /y",
		"Crawl-delay: 1", "crawldelay: 2", "Crawl-delay 3", "Noindex: /", "Host: h", "Host h", "Sitemap: s", "site-map s", "Foo: bar", "", "# nothing",
	}
	for range 5_000 {
		var b strings.Builder
		for range 1 + random.IntN(9) {
			b.WriteString(lines[random.IntN(len(lines))])
			b.WriteByte('\n')
		}
		r := Parse([]byte(b.String()))
		for _, token := range []string{"a", "b", "c"} {
			compareWithNaive(t, r, token, []string{"/", "/x", "/x/y"}[random.IntN(3)])
		}
	}
}
