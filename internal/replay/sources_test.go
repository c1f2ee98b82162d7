package replay

import (
	"net/netip"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestSourcesAreMerged merges the counts of two workers for the same source.
func TestSourcesAreMerged(t *testing.T) {
	t.Parallel()
	tally := func(address string, first, last int64) *sourceTally {
		rule := policy.Rule{Path: "/x", Line: 2}
		return &sourceTally{bySource: map[sourceKey]*sourceCount{{crawler: 1}: {
			userAgent: address, address: netip.MustParseAddr(address), requests: 3, bytes: 30, first: first, last: last,
			rules: map[policy.Rule]*SourceRule{rule: {Line: 2, Requests: 3}}, samples: []Sample{{Target: address}},
		}}}
	}
	a, same := tally("198.51.100.7", 20, 30), tally("198.51.100.7", 25, 40)
	a.merge(same)
	c := a.bySource[sourceKey{crawler: 1}]
	if c.severalAddresses || c.requests != 6 || c.bytes != 60 || c.first != 20 || c.last != 40 || len(c.samples) != 2 || c.rules[policy.Rule{Path: "/x", Line: 2}].Requests != 6 {
		t.Errorf("one address: %+v", c)
	}
	a.merge(tally("198.51.100.8", 10, 15))
	if !c.severalAddresses || c.requests != 9 || c.first != 10 || c.userAgent != "198.51.100.8" {
		t.Errorf("two addresses: %+v", c)
	}
}
