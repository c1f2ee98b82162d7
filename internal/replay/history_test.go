package replay

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestTexts finds the version of a host at a time.
func TestTexts(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	first, second, b := "User-agent: *\nDisallow: /first\n", "User-agent: *\nDisallow: /second\n", "User-agent: Nobody-Knows-It\nDisallow: /\n"
	one := []Version{{From: day(20), Body: []byte(second)}, {From: day(10), Body: []byte(first)}}
	hosts := []Version{{Host: "a.example", From: day(20), Body: []byte(second)}, {Host: "b.example", From: day(10), Body: []byte(b)}, {Host: "a.example", From: day(10), Body: []byte(first)}, {Host: "::1", Body: []byte(b)}}
	for _, tc := range []struct {
		name     string
		versions []Version
		host     string
		at       time.Time
		want     string
	}{
		{"before the first", one, "a.example", day(1), first},
		{"of the first", one, "b.example", day(11), first},
		{"the moment of the second", one, "", day(20), second},
		{"long after", one, "", day(20).AddDate(200, 0, 0), second},
		{"no time", one, "", time.Time{}, second},
		{"a host's first", hosts, "a.example", day(12), first},
		{"a host's last", hosts, "A.Example.:8443", time.Time{}, second},
		{"a host with one", hosts, "b.example", day(30), b},
		{"an address", hosts, "[::1]:80", day(30), b},
		{"another host", hosts, "c.example", day(30), ""},
		{"no host", hosts, "", day(30), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			texts, err := NewRobotsHistory(tc.versions, uaident.Default())
			if err != nil {
				t.Fatal(err)
			}
			robots, overlay := texts.RobotsAt(tc.host, tc.at)
			if tc.want == "" {
				if robots != nil {
					t.Errorf("got %v", robots.GroupNames())
				}
				return
			}
			if robots == nil {
				t.Fatal("no text")
			}
			rules := map[string]bool{}
			for _, path := range []string{"/first", "/second"} {
				rules[path] = robots.Select(true, "x").Judge(path).Allowed
			}
			if rules["/first"] != (tc.want != first) || rules["/second"] != (tc.want != second) {
				t.Errorf("got %v, want those of %q", rules, tc.want)
			}
			if (overlay == nil) != (tc.want != b) {
				t.Errorf("the names are %v", overlay)
			}
		})
	}
	if _, err := NewRobotsHistory(nil, uaident.Default()); err == nil {
		t.Error("no versions are taken")
	}
}
