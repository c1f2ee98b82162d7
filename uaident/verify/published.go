package verify

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
)

// PublishedRanges provides the published address ranges of some operators, as the loaded lists
// contain them. PublishedRanges is safe for concurrent use.
type PublishedRanges struct {
	verifier     *Verifier
	operators    []string // The operators are in lower case.
	lastSnapshot atomic.Pointer[rangesSnapshot]
}

// rangesSnapshot is the cached result of [PublishedRanges.Prefixes] with the lists from which it
// was computed. A rangesSnapshot is immutable.
type rangesSnapshot struct {
	config *activeConfig
	lists  []*addressList
	// tables has the prefixes of each list. An element is nil for a list that was never loaded.
	tables   []*activePrefixes
	prefixes []netip.Prefix
}

// PublishedRanges returns the address ranges of the operators with the given names, ignoring case.
func (v *Verifier) PublishedRanges(operators ...string) *PublishedRanges {
	p := &PublishedRanges{verifier: v}
	for _, name := range operators {
		p.operators = append(p.operators, strings.ToLower(name))
	}
	return p
}

// Prefixes returns the ranges, sorted and without duplicates. Prefixes includes ranges from lists
// that may be out of date. Callers must not modify the result.
func (p *PublishedRanges) Prefixes() []netip.Prefix {
	s, last := p.verifier.activeConfig.Load(), p.lastSnapshot.Load()
	if last != nil && last.config == s && last.isCurrent() {
		return last.prefixes
	}
	next := &rangesSnapshot{config: s}
	for _, name := range p.operators {
		m := s.operators[name]
		if m == nil {
			continue
		}
		for _, l := range m.lists {
			if slices.Contains(next.lists, l) {
				continue
			}
			active := l.active.Load()
			next.lists, next.tables = append(next.lists, l), append(next.tables, active)
			if active != nil {
				next.prefixes = append(next.prefixes, active.prefixes...)
			}
		}
	}
	slices.SortFunc(next.prefixes, netip.Prefix.Compare)
	next.prefixes = slices.Compact(next.prefixes)
	p.lastSnapshot.Store(next)
	return next.prefixes
}

// isCurrent reports whether none of the lists was loaded again since the snapshot.
func (r *rangesSnapshot) isCurrent() bool {
	for i, l := range r.lists {
		if l.active.Load() != r.tables[i] {
			return false
		}
	}
	return true
}
