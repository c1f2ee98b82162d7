package verify

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestPartialRanges checks that a partial list never makes a client spoofed, alone or with other
// lists.
func TestPartialRanges(t *testing.T) {
	const complete, part = "https://foo.example/complete.json", "https://foo.example/part.csv"
	lists := map[string]string{complete: "192.0.2.0/28", part: "192.0.2.64/28,US,,,"}
	confirmed, undecided := Finding{Verified, Ranges}, Finding{}
	for _, tc := range []struct {
		name   string
		facts  uaident.Verification
		addr   string
		want   Finding
		reason string // the reason why no client is spoofed
	}{
		{"address in the partial list", uaident.Verification{PartialRanges: []string{part}}, "192.0.2.65", confirmed, ""},
		{"address outside of the partial list", uaident.Verification{PartialRanges: []string{part}}, "203.0.113.1", undecided, "may be incomplete"},
		{"two lists, address in the complete list", uaident.Verification{Ranges: []string{complete}, PartialRanges: []string{part}}, "192.0.2.1", confirmed, ""},
		{"two lists, address in the partial list", uaident.Verification{Ranges: []string{complete}, PartialRanges: []string{part}}, "192.0.2.65", confirmed, ""},
		{"two lists, address in neither", uaident.Verification{Ranges: []string{complete}, PartialRanges: []string{part}}, "203.0.113.1", Finding{Spoofed, Ranges}, ""},
		{"two partial lists", uaident.Verification{PartialRanges: []string{part, complete}}, "203.0.113.1", undecided, "may be incomplete"},
		{"unsure", uaident.Verification{Ranges: []string{complete}, PartialRanges: []string{part}, IsThirdParty: true}, "203.0.113.1", undecided, "may be incomplete"},
	} {
		bot := uaident.Crawler{Token: "FooBot", Operator: "Foo", Class: uaident.AITraining, Verification: tc.facts}
		v := configured(t, Options{}, Config{Crawlers: []uaident.Crawler{bot}, Ranges: true})
		for key, l := range v.activeConfig.Load().lists {
			ranges, err := ParseRanges([]byte(lists[key.source]))
			if err != nil {
				t.Fatal(err)
			}
			table, err := newPrefixTable(ranges)
			if err != nil {
				t.Fatal(err)
			}
			v.setPrefixTable(l, table)
		}
		if got := v.Check(&bot, netip.MustParseAddr(tc.addr)); got != tc.want {
			t.Errorf("%s: %s by %s, want %s by %s", tc.name, got.State, got.Method, tc.want.State, tc.want.Method)
		}
		explained := v.Explain(t.Context(), &bot, netip.MustParseAddr(tc.addr), false)
		if last := explained.Steps[len(explained.Steps)-1].Text; explained.Finding != tc.want || !strings.Contains(last, tc.reason) {
			t.Errorf("%s: Explain returns %+v, %q", tc.name, explained.Finding, last)
		}
	}
}
