package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestRobots(t *testing.T) {
	s := scripted()
	r, ok := s.Robots(Filter{Site: "example.com"})
	if !ok {
		t.Fatal("there is no robots.txt")
	}
	var lines []string
	for _, line := range r.Lines {
		lines = append(lines, fmt.Sprintf("%d %s %d %t %d", line.Line, line.Kind, line.Hits, line.NeverHit, len(line.Findings)))
	}
	want := "1 user-agent 21 false 0|2 record 0 false 1|3 rule 1 false 1|4 rule 0 true 0|5 other 0 false 0|6 user-agent 61 false 0|7 rule 61 false 0|8 rule 0 true 0"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("lines\n%s, want\n%s", got, want)
	}
	if r.RulesNeverHit != 2 || len(r.Findings) != 2 || len(r.Versions) != 2 {
		t.Errorf("%d never hit, %d findings, %d versions", r.RulesNeverHit, len(r.Findings), len(r.Versions))
	}
	var diff strings.Builder
	for _, line := range r.Versions[0].Diff {
		fmt.Fprintf(&diff, "%s%d %s\n", line.Op, line.Line, line.Text)
	}
	goldenText(t, "diff.txt", diff.String())
	var rejudged []string
	for _, p := range r.Versions[0].ChangedVerdicts {
		rejudged = append(rejudged, fmt.Sprint(p.Token, p.Path, " ", p.Before, " ", p.After, " ", p.Count))
	}
	if got := strings.Join(rejudged, "|"); got != "GPTBot/articles/0 allowed disallowed 21|GPTBot/articles/1 allowed disallowed 20|GPTBot/articles/2 allowed disallowed 20|bingbot/private/\n disallowed allowed 1" {
		t.Errorf("rejudged: %s", got)
	}
	for _, site := range []string{"", "nowhere.example"} {
		if _, ok := s.Robots(Filter{Site: site}); ok {
			t.Errorf("there is a robots.txt of %q", site)
		}
	}
	if r, ok := s.Robots(Filter{Site: "quiet.example.com"}); !ok || r.Health.State != Unread || len(r.Lines) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDiff(t *testing.T) {
	for _, tc := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a", "a", ""},
		{"a b c", "a x c", " 1a -2b +2x  3c"},
		{"", "a b", "+1a +2b"},
		{"a b", "", "-1a -2b"},
		{"a b c d e f g h i", "a b c d e f g h i j", " 7g  8h  9i +10j"},
		{"a b c", "b c d", "-1a  1b  2c +3d"},
	} {
		var got []string
		for _, line := range diffLines(strings.Fields(tc.before), strings.Fields(tc.after)) {
			got = append(got, fmt.Sprint(line.Op, line.Line, line.Text))
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("%q to %q: %q, want %q", tc.before, tc.after, got, tc.want)
		}
	}
	long := make([]string, 3000)
	other := make([]string, 3000)
	for i := range long {
		long[i], other[i] = fmt.Sprint("a", i), fmt.Sprint("b", i)
	}
	if got := len(diffLines(long, other)); got != 6000 {
		t.Errorf("%d lines of two files of 3000", got)
	}
}

func TestImpact(t *testing.T) {
	impact := scripted().Impact(Filter{Window: Week})
	var classes []string
	for _, c := range impact.ByClass {
		classes = append(classes, fmt.Sprintf("%s %d %d %d", c.Class, c.Requests, c.BlockedByEnforce, len(c.Crawlers[0].Rules)))
	}
	if got := strings.Join(classes, "|"); got != "search 21 1 1|ai_training 62 60 1|crawler 1 1 1" {
		t.Errorf("classes: %s", got)
	}
	if impact.BlockedByEnforce != 62 || len(impact.Modes) != 3 || impact.Modes[0].Mode != "enforce" || impact.Modes[2].Mode != "" {
		t.Errorf("%d blockable, modes %v", impact.BlockedByEnforce, impact.Modes)
	}
}
