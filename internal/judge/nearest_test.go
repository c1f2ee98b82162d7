package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestMostEdits tells from which length on a name may be how far from the one that is meant.
func TestMostEdits(t *testing.T) {
	for letters, want := range map[int]int{0: 0, 2: 0, 3: 1, 8: 1, 9: 2, 13: 2, 14: 3, maxCompared: 3} {
		if got := maxEdits(letters); got != want {
			t.Errorf("of %d letters: %d edits, want %d", letters, got, want)
		}
	}
}

// TestNearest compares names with a word of nine letters, for which two edits are the most.
func TestNearest(t *testing.T) {
	type name struct {
		name, known string
		rank        int
	}
	own := func(rank int, names ...string) (all []name) {
		for _, n := range names {
			all = append(all, name{n, n, rank})
		}
		return all
	}
	for _, tc := range []struct {
		what  string
		names []name
		want  []string
	}{
		{"none", nil, nil},
		{"itself", own(1, "abcdefghi"), []string{"abcdefghi"}},
		{"whatever is not a letter", own(1, "Abc Def-Ghi"), []string{"Abc Def-Ghi"}},
		{"two edits", own(1, "abcdefgxy"), []string{"abcdefgxy"}},
		{"three", own(1, "abcdefxyz"), nil},
		{"two letters more", own(1, "abcdefghixy"), []string{"abcdefghixy"}},
		{"three more", own(1, "abcdefghixyz"), nil},
		{"two less", own(1, "abcdefg"), []string{"abcdefg"}},
		{"three less", own(1, "abcdef"), nil},
		{"the nearer one after the other", own(1, "abcdefgxy", "abcdefghx"), []string{"abcdefghx"}},
		{"the nearer one before the other", own(1, "abcdefghx", "abcdefgxy"), []string{"abcdefghx"}},
		{"the nearer one of a higher rank", append(own(1, "abcdefgxy"), own(2, "abcdefghx")...), []string{"abcdefghx"}},
		{"the other one of a lower rank", append(own(2, "abcdefghx"), own(1, "abcdefgxy")...), []string{"abcdefghx"}},
		{"alike", own(1, "abcdefghx", "abcdefghy"), []string{"abcdefghx", "abcdefghy"}},
		{"alike, one of them longer", own(1, "abcdefghx", "abcdefghix"), []string{"abcdefghx", "abcdefghix"}},
		{"alike, one of them shorter", own(1, "abcdefghx", "abcdefgh"), []string{"abcdefghx", "abcdefgh"}},
		{"alike, the second of a lower rank", append(own(2, "abcdefghx"), own(1, "abcdefghy")...), []string{"abcdefghy"}},
		{"alike, the second of a higher rank", append(own(1, "abcdefghx"), own(2, "abcdefghy")...), []string{"abcdefghx"}},
		{"alike, and then of a lower rank", append(own(1, "abcdefghx", "abcdefghy"), own(0, "abcdefghz")...), []string{"abcdefghz"}},
		{"four alike", own(1, "abcdefghv", "abcdefghw", "abcdefghx", "abcdefghy"), []string{"abcdefghv", "abcdefghw", "abcdefghx"}},
		{"two names of one", []name{{"abcdefghx", "A", 1}, {"abcdefghy", "A", 1}, {"abcdefghz", "B", 1}}, []string{"A", "B"}},
	} {
		n := nameSearch{folded: "abcdefghi", letterSet: text.ByteSet("abcdefghi"), distance: maxEdits(9) + 1}
		for _, name := range tc.names {
			n.compareName(newRegistryName(name.name, name.known, name.rank))
		}
		if !slices.Equal(n.nearest, tc.want) {
			t.Errorf("%s: %q, want %q", tc.what, n.nearest, tc.want)
		}
	}
}

// TestNearestNames looks for names in a registry that has some more.
func TestNearestNames(t *testing.T) {
	long, longer := "Zork"+strings.Repeat("x", maxCompared-4), "Quux"+strings.Repeat("y", maxCompared-3)
	registry, err := uaident.Default().WithCrawlers(
		uaident.Crawler{Token: long, Class: uaident.GenericCrawler},
		uaident.Crawler{Token: longer, Class: uaident.GenericCrawler},
		uaident.Crawler{Token: "Zorkdatabot", Class: uaident.GenericCrawler, Provenance: uaident.Dataset},
		uaident.Crawler{Token: "Zorkdotabot", Class: uaident.GenericCrawler},
		uaident.Crawler{Token: "Zorkdot", Operator: "Zork Dot", Class: uaident.GenericCrawler},
		uaident.Crawler{Token: "Zorkdot-Image", Operator: "Zork Dot", Class: uaident.GenericCrawler},
		uaident.Crawler{Token: "Zorkcontrol", Class: uaident.GenericCrawler, RobotsOnly: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		word string
		want []string
	}{
		{"Zrok" + long[4:], []string{long}},
		{"Quxu" + longer[4:], nil},
		{"Zorkdaatbot", []string{"Zorkdatabot"}},
		{"Zorkditabot", []string{"Zorkdotabot"}}, // as near to the other, which is not documented
		{"Zorkdxxxbot", nil},
		{"Zork-dot", []string{"Zorkdot"}}, // and not all of its operator
		{"Zorkcontrl", nil},
		{"z", nil},
	} {
		if got := nearestNames(registry, tc.word, nil); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.word, got, tc.want)
		}
	}
	for _, operator := range []string{"google", "openai"} {
		all := 0
		for _, c := range registry.Crawlers() {
			if text.FoldSpelling(c.Operator) == operator && !c.RobotsOnly {
				all++
			}
		}
		if got := cachedRegistryNames(registry).byOperator[operator]; len(got) != min(all, maxTokens) {
			t.Errorf("%d of %d crawlers of %s", len(got), all, operator)
		}
	}
}
