package verify

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaissmai/bart"
)

// These are bounds for plausible lists. A list that covers the Internet would verify every client.
const (
	minPrefixBits4 = 8
	minPrefixBits6 = 16
	maxAddrs4      = 1 << 27 // This is 1/32 of all IPv4 addresses.
	maxNetworks6   = 4       // This is a number of IPv6 prefixes of length 16.
)

// prefixTable is an immutable set of prefixes that finds the prefix of an address.
type prefixTable struct {
	prefixes []netip.Prefix
	lite     *bart.Lite
}

// newPrefixTable returns a table of prefixes. Prefixes that are too wide, or that together cover too much
// of the Internet, are an error.
func newPrefixTable(prefixes []netip.Prefix) (*prefixTable, error) {
	t := &prefixTable{lite: new(bart.Lite)}
	count4, count6 := uint64(0), uint64(0)
	for _, p := range prefixes {
		widest := minPrefixBits4
		if p.Addr().Is6() {
			widest = minPrefixBits6
		}
		if p.Bits() < widest {
			return nil, fmt.Errorf("%s is implausibly wide: wider than /%d", p, widest)
		}
		if t.lite.Get(p) {
			continue
		}
		if p.Addr().Is4() {
			count4 += 1 << (32 - p.Bits())
		} else {
			count6 += 1 << max(0, 64-p.Bits())
		}
		t.lite.Insert(p)
		t.prefixes = append(t.prefixes, p)
	}
	switch {
	case len(t.prefixes) == 0:
		return nil, errors.New("the list is empty")
	case count4 > maxAddrs4 || count6 > maxNetworks6<<(64-minPrefixBits6):
		return nil, errors.New("the list covers an implausibly large part of the Internet")
	}
	return t, nil
}

// contains reports whether the list contains addr. addr must not be IPv4-mapped or have a
// zone.
func (t *prefixTable) contains(addr netip.Addr) bool { return t.lite.Contains(addr) }

// losesMostIn reports whether more than half of the prefixes of t do not overlap with next.
// Prefixes that were split or merged overlap.
func (t *prefixTable) losesMostIn(next *prefixTable) bool {
	lost := 0
	for _, p := range t.prefixes {
		if !next.lite.OverlapsPrefix(p) {
			lost++
		}
	}
	return lost*2 > len(t.prefixes)
}
