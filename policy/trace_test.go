package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMatchesNothing checks targets without a matching rule.
func TestMatchesNothing(t *testing.T) {
	all := Parse([]byte("User-agent: *\nDisallow: /\n")).Select(true)
	for path, s := range map[string]*SelectedGroup{"/robots.txt": all, "/a": nil} {
		var target Target
		target.Set(path, false)
		if got := s.MatchingRules(&target); len(got) != 0 {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestMatches(t *testing.T) {
	robots := Parse([]byte(`User-agent: *
Disallow: /a
Disallow:
Disallow: b
Allow: /a/*.html
Disallow: /a/x.html
User-agent: Foo
Disallow: /foo

User-agent: *
Allow: /a
`))
	for _, tc := range []struct {
		target string
		want   string // length and rule of each match
	}{
		{"/", ""},
		{"/a", "2 Allow: /a, 2 Disallow: /a"},
		{"/%61", "2 Allow: /a, 2 Disallow: /a"},
		{"/a/x.html", "9 Allow: /a/*.html, 9 Disallow: /a/x.html, 2 Allow: /a, 2 Disallow: /a"},
		{"/a%2Fx.html", "9 Allow: /a/*.html, 9 Disallow: /a/x.html, 2 Allow: /a, 2 Disallow: /a"},
		{"/robots.txt", ""},
	} {
		var target Target
		target.Set(tc.target, false)
		var got []string
		for _, m := range robots.Select(true).MatchingRules(&target) {
			got = append(got, fmt.Sprintf("%d %s", m.Length, m.Rule))
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %s, want %s", tc.target, strings.Join(got, ", "), tc.want)
		}
	}
	var none *SelectedGroup
	if none.MatchingRules(new(Target)) != nil || none.Rules() != nil || none.Agents() != nil {
		t.Error("a nil selection has rules")
	}
	star := robots.Select(true)
	if got := star.Rules(); len(got) != 6 || got[5] != (Rule{true, "/a", 11}) {
		t.Errorf("rules %v", got)
	}
	if got := star.Agents(); !slices.Equal(got, []Agent{{"*", 1}, {"*", 10}}) {
		t.Errorf("agents %v", got)
	}
}

// TestFirstMatchDecides compares the first of MatchingRules with the verdict.
func TestFirstMatchDecides(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	piece := func() string {
		var b strings.Builder
		b.WriteByte('/')
		for range random.IntN(5) {
			b.WriteString([]string{"a", "b", "/", "*", "%2F", "index.html", "$"}[random.IntN(7)])
		}
		return b.String()
	}
	for range 5000 {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for range random.IntN(6) {
			fmt.Fprintf(&b, "%s: %s\n", []string{"Allow", "Disallow"}[random.IntN(2)], piece())
		}
		text, path := b.String(), piece()
		s := Parse([]byte(text)).Select(true)
		v := s.Judge(path)
		var target Target
		target.Set(path, false)
		var first Match
		if all := s.MatchingRules(&target); len(all) > 0 {
			first = all[0]
		}
		if v.Rule != first.Rule {
			t.Fatalf("%q for %s: the verdict is by %q, the first match %q", path, text, v.Rule, first.Rule)
		}
	}
}

func TestCanonicalRule(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "x": "", "/a": "/a", "/%7Ea": "/~a", "/ä": "/%C3%A4", "/a$": "/a$", "/a$b": "/a%24b", "*x": "*x",
	} {
		if got := (Rule{Path: path, Line: 1}).CanonicalPath(); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestTargetForms(t *testing.T) {
	var target Target
	target.Set("/a//b%2fc", false)
	want := []TargetVariant{{"/a//b%2Fc", 0}, {"/a/b/c", SlashesDecoded}}
	if got := target.Variants(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
