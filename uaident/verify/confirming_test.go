package verify

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// A list that only confirms makes nobody spoofed, alone or with others.
func TestConfirmingRanges(t *testing.T) {
	const whole, part = "https://foo.example/whole.json", "https://foo.example/part.csv"
	lists := map[string]string{whole: "192.0.2.0/28", part: "192.0.2.64/28,US,,,"}
	confirmed, unsaid := Finding{Verified, Ranges}, Finding{}
	for _, tc := range []struct {
		name   string
		facts  uaident.Verification
		addr   string
		want   Finding
		reason string // why nobody is spoofed
	}{
		{"confirms", uaident.Verification{PartialRanges: []string{part}}, "192.0.2.65", confirmed, ""},
		{"refutes nothing", uaident.Verification{PartialRanges: []string{part}}, "203.0.113.1", unsaid, "may be incomplete"},
		{"of two lists: confirmed by the whole one", uaident.Verification{Ranges: []string{whole}, PartialRanges: []string{part}}, "192.0.2.1", confirmed, ""},
		{"of two lists: confirmed by the other", uaident.Verification{Ranges: []string{whole}, PartialRanges: []string{part}}, "192.0.2.65", confirmed, ""},
		{"of two lists: refuted by the whole one", uaident.Verification{Ranges: []string{whole}, PartialRanges: []string{part}}, "203.0.113.1", Finding{Spoofed, Ranges}, ""},
		{"two that confirm", uaident.Verification{PartialRanges: []string{part, whole}}, "203.0.113.1", unsaid, "may be incomplete"},
		{"unsure", uaident.Verification{Ranges: []string{whole}, PartialRanges: []string{part}, Unsure: true}, "203.0.113.1", unsaid, "may be incomplete"},
	} {
		bot := uaident.Crawler{Token: "FooBot", Operator: "Foo", Class: uaident.AITraining, Verification: tc.facts}
		v := configured(t, Options{}, Config{Crawlers: []uaident.Crawler{bot}, Ranges: true})
		for key, l := range v.setup.Load().lists {
			ranges, err := ParseRanges([]byte(lists[key.source]))
			if err != nil {
				t.Fatal(err)
			}
			table, err := newTable(ranges)
			if err != nil {
				t.Fatal(err)
			}
			v.setTable(l, table)
		}
		if got := v.Check(&bot, netip.MustParseAddr(tc.addr)); got != tc.want {
			t.Errorf("%s: %s by %s, want %s by %s", tc.name, got.State, got.Method, tc.want.State, tc.want.Method)
		}
		explained := v.Explain(t.Context(), &bot, netip.MustParseAddr(tc.addr), false)
		if last := explained.Steps[len(explained.Steps)-1].Text; explained.Finding != tc.want || !strings.Contains(last, tc.reason) {
			t.Errorf("%s: explained as %+v, %q", tc.name, explained.Finding, last)
		}
	}
}
