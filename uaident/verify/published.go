package verify

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
)

// Published returns the address ranges of operators from the lists in use. It is safe for
// concurrent use.
type Published struct {
	verifier  *Verifier
	operators []string // in lower case
	last      atomic.Pointer[publishedRanges]
}

// publishedRanges is the union of some lists. It is immutable.
type publishedRanges struct {
	setup    *setup
	lists    []*list
	tables   []*loaded // of lists; nil for a list that was never loaded
	prefixes []netip.Prefix
}

// Published returns the address ranges of the given operators. The names ignore case.
func (v *Verifier) Published(operators ...string) *Published {
	p := &Published{verifier: v}
	for _, name := range operators {
		p.operators = append(p.operators, strings.ToLower(name))
	}
	return p
}

// Prefixes returns the ranges without duplicates. It includes lists that are stale and omits
// lists that were never loaded. Callers must not modify the result.
func (p *Published) Prefixes() []netip.Prefix {
	s, last := p.verifier.setup.Load(), p.last.Load()
	if last != nil && last.setup == s && last.isCurrent() {
		return last.prefixes
	}
	next := &publishedRanges{setup: s}
	for _, name := range p.operators {
		m := s.operators[name]
		if m == nil {
			continue
		}
		for _, l := range m.lists {
			if slices.Contains(next.lists, l) {
				continue
			}
			loaded := l.loaded.Load()
			next.lists, next.tables = append(next.lists, l), append(next.tables, loaded)
			if loaded != nil {
				next.prefixes = append(next.prefixes, loaded.prefixes...)
			}
		}
	}
	slices.SortFunc(next.prefixes, netip.Prefix.Compare)
	next.prefixes = slices.Compact(next.prefixes)
	p.last.Store(next)
	return next.prefixes
}

// isCurrent reports whether no list was reloaded since.
func (r *publishedRanges) isCurrent() bool {
	for i, l := range r.lists {
		if l.loaded.Load() != r.tables[i] {
			return false
		}
	}
	return true
}
