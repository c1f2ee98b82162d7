package explain

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestReadings shows both ways to read a file where they differ for a crawler.
func TestReadings(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /a\nDisalow: /b\n\nuseragent: c\nDisallow: /c\n"))
	var target policy.Target
	for _, tc := range []struct {
		token, target string
		want          []string // lines of the text
	}{
		{"x", "/b", []string{"  the forgiving one disallows it: the group *, Disallow: /b in line 3\n", "  the strict one allows it: the group *, no rule\n"}},
		{"x", "/a", []string{"  the forgiving one disallows it: the group *, Disallow: /a in line 2\n", "  the strict one disallows it: the group *, Disallow: /a in line 2\n"}},
		{"c", "/c", []string{"  the forgiving one disallows it: the group c, Disallow: /c in line 6\n", "  the strict one disallows it: the group *, Disallow: /c in line 6\n"}},
	} {
		group := robots.Select(true, tc.token)
		target.Set(tc.target, false)
		e := Explanation{Group: GroupOf(group, group.Named())}
		e.SetTarget(tc.target, &target, group)
		var text strings.Builder
		if err := e.Write(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range tc.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s for %s: no %q in\n%s", tc.target, tc.token, want, text.String())
			}
		}
	}
	one := policy.Parse([]byte("User-agent: *\nDisallow: /a\n")).Select(true)
	var e Explanation
	e.SetTarget("/a", &target, one)
	if e.Readings != nil {
		t.Errorf("a file with one reading: %+v", e.Readings)
	}
}
