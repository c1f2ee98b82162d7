package judge

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestSelectorHas picks clients by token, however that is spelled, and allocates for none
// whose name is of ASCII.
func TestSelectorHas(t *testing.T) {
	long := "Bot" + strings.Repeat("x", 70)
	s, err := ParseSelector(nil, []string{"GPTBot", "Bücherbot", "Straßenbot", long, "seo"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		token      string
		class      uaident.Class
		has, ascii bool
	}{
		{"GPTBot", uaident.AITraining, true, true},
		{"gptBOT", uaident.AITraining, true, true},
		{"GPTBot2", uaident.AITraining, false, true},
		{"GPTBo", uaident.AITraining, false, true},
		{"", uaident.Other, false, true},
		{"AhrefsBot", uaident.SEO, true, true},
		{"BÜCHERBOT", uaident.Other, true, false},
		{"bücherbot", uaident.Other, true, false},
		{"Strassenbot", uaident.Other, false, true},
		{strings.ToUpper(long), uaident.Other, true, false},
		{long + "x", uaident.Other, false, false},
	} {
		id := uaident.Identity{Token: tc.token, Class: tc.class}
		if got := s.Has(id); got != tc.has {
			t.Errorf("%q: %v, want %v", tc.token, got, tc.has)
		}
		if n := testing.AllocsPerRun(100, func() { s.Has(id) }); tc.ascii && n > 0 {
			t.Errorf("%q: %v allocations", tc.token, n)
		}
	}
	known := uaident.Identify("Mozilla/5.0 (compatible; gptbot/1.2)")
	known.Token = "other" // the registry's name counts as well
	if !s.Has(known) {
		t.Errorf("%+v is not picked", known)
	}
}
