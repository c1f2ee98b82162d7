package verify

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaissmai/bart"
)

// What a plausible list has. The widest prefix that an operator publishes is far
// narrower; one that covers the Internet verifies everybody.
const (
	widest4 = 8
	widest6 = 16
	mostOf4 = 1 << 27 // IPv4 addresses in all, a 32nd of them
	mostOf6 = 4       // IPv6 prefixes of length 16 in all, counted in parts
)

// table is a list of addresses that can be looked up. It is immutable.
type table struct {
	prefixes []netip.Prefix
	lite     *bart.Lite
}

// newTable returns the table of a list, or an error if it is not plausible.
func newTable(prefixes []netip.Prefix) (*table, error) {
	t := &table{lite: new(bart.Lite)}
	of4, of6 := uint64(0), uint64(0)
	for _, p := range prefixes {
		widest := widest4
		if p.Addr().Is6() {
			widest = widest6
		}
		if p.Bits() < widest {
			return nil, fmt.Errorf("%s is implausibly wide: wider than /%d", p, widest)
		}
		if t.lite.Get(p) {
			continue
		}
		if p.Addr().Is4() {
			of4 += 1 << (32 - p.Bits())
		} else {
			of6 += 1 << max(0, 64-p.Bits())
		}
		t.lite.Insert(p)
		t.prefixes = append(t.prefixes, p)
	}
	switch {
	case len(t.prefixes) == 0:
		return nil, errors.New("the list has no address")
	case of4 > mostOf4 || of6 > mostOf6<<(64-widest6):
		return nil, errors.New("the list covers an implausibly large part of the Internet")
	}
	return t, nil
}

// contains reports whether addr, which must be neither IPv4-mapped nor have a
// zone, is in the list.
func (t *table) contains(addr netip.Addr) bool { return t.lite.Contains(addr) }

// shrinksTo reports whether next has nothing of more than half of t's prefixes.
// Prefixes that were split or merged are not lost.
func (t *table) shrinksTo(next *table) bool {
	lost := 0
	for _, p := range t.prefixes {
		if !next.lite.OverlapsPrefix(p) {
			lost++
		}
	}
	return lost*2 > len(t.prefixes)
}
