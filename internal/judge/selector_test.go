package judge

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestSelectorHas picks clients by token, however that is spelled.
func TestSelectorHas(t *testing.T) {
	long := "Bot" + strings.Repeat("x", 70)
	s, err := ParseSelector(nil, []string{"GPTBot", "AZBot", "Bücherbot", "Straßenbot", "Bot\x80", long, "HaosouSpider", "seo"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		token string
		class uaident.Class
		has   bool
	}{
		{"GPTBot", uaident.AITraining, true},
		{"gptBOT", uaident.AITraining, true},
		{"GPTBot2", uaident.AITraining, false},
		{"GPTBo", uaident.AITraining, false},
		{"azbot", uaident.Other, true},
		{"AZBOT", uaident.Other, true},
		{"@[bot", uaident.Other, false},
		{"", uaident.Other, false},
		{"AhrefsBot", uaident.SEO, true},
		{"BÜCHERBOT", uaident.Other, true},
		{"bücherbot", uaident.Other, true},
		{"Strassenbot", uaident.Other, false},
		{"BOT\x80", uaident.Other, true},
		{strings.ToUpper(long), uaident.Other, true},
		{long + "x", uaident.Other, false},
	} {
		if got := s.Matches(uaident.Identity{Token: tc.token, Class: tc.class}); got != tc.has {
			t.Errorf("%q: %v, want %v", tc.token, got, tc.has)
		}
	}
	for userAgent, tokens := range map[string]map[string]bool{
		"gptbot/1.2":      {"gptbot": true, "other": true},            // the registry's name counts as well
		"360Spider":       {"360Spider": false, "haosouspider": true}, // and the one that is sent
		"bingbot/2.0":     {"bingbot": false, "GPTBot": true, "other": false},
		"ZorklyBot/1.0":   {"ZorklyBot": false},
		"Googlebot/2.1":   {"Googlebot": false, "googlebot": false},
		"HaosouSpider/1.": {"HaosouSpider": true},
	} {
		for token, want := range tokens {
			id := uaident.Identify(userAgent)
			id.Token = token
			if got := s.Matches(id); got != want {
				t.Errorf("%s as %q: %v, want %v", userAgent, token, got, want)
			}
		}
	}
}

// TestSelectorDoesNotAllocate picks clients whose names are of ASCII.
func TestSelectorDoesNotAllocate(t *testing.T) {
	s, err := ParseSelector(nil, []string{"GPTBot", "seo"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"GPTBot", "gptBOT", "GPTBot2", "", strings.Repeat("x", 64)} {
		id := uaident.Identity{Token: token}
		if n := testing.AllocsPerRun(100, func() { s.Matches(id) }); n > 0 {
			t.Errorf("%q: %v allocations", token, n)
		}
	}
}

// TestParseClasses reads the classes that a site judges.
func TestParseClasses(t *testing.T) {
	for _, tc := range []struct {
		words []string
		want  ClassSet
		error string // "" for none
	}{
		{nil, 0, ""},
		{[]string{"seo"}, newClasses(uaident.SEO), ""},
		{[]string{"seo", "ai_training"}, newClasses(uaident.SEO, uaident.AITraining), ""},
		{[]string{"other"}, newClasses(uaident.Other), ""},
		{[]string{"seo", "library", "seo"}, 0, "seo is named twice"},
		{[]string{"browser"}, 0, `"browser" is not a class of crawlers; the classes are other`},
		{[]string{"seo", "serach"}, 0, `"serach" is not a class of crawlers; did you mean search?`},
		{[]string{"Zxqvbnmw"}, 0, `"Zxqvbnmw" is not a class of crawlers; the classes are other`},
	} {
		got, err := ParseClasses(tc.words)
		if got != tc.want || (err == nil) != (tc.error == "") || err != nil && !strings.HasPrefix(err.Error(), tc.error) {
			t.Errorf("%q: %b, %v, want %b, %q", tc.words, got, err, tc.want, tc.error)
		}
	}
}

// TestIdentitiesHas asks for identities, of which none are all.
func TestIdentitiesHas(t *testing.T) {
	s, err := ParseSelector(nil, []string{"verified", "spoofed"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range verify.States() {
		if listed := state == verify.Verified || state == verify.Spoofed; s.Identities.Has(state) != listed {
			t.Errorf("%v is listed: %v, want %v", state, !listed, listed)
		}
		if !IdentitySet(0).Has(state) {
			t.Errorf("%v is not any", state)
		}
	}
}

// newClasses returns a set of classes.
func newClasses(classes ...uaident.Class) (set ClassSet) {
	for _, c := range classes {
		set |= 1 << c
	}
	return set
}
