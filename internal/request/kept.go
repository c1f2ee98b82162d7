package request

import (
	"slices"
	"sync/atomic"
)

// KeptSite is a site that the configuration names, and what others keep beside it. It
// lasts as long as its configuration.
type KeptSite struct {
	Site
	beside atomic.Pointer[[]beside]
}

// beside is what somebody keeps.
type beside struct{ of, kept any }

// Of returns what somebody keeps beside the site, nil for nothing.
func (s *KeptSite) Of(who any) any {
	all := s.beside.Load()
	if all == nil {
		return nil
	}
	for i := range *all {
		if one := &(*all)[i]; one.of == who {
			return one.kept
		}
	}
	return nil
}

// IsShared reports whether several keep something beside the site.
func (s *KeptSite) IsShared() bool {
	all := s.beside.Load()
	return all != nil && len(*all) > 1
}

// Keep keeps something beside the site for somebody who keeps nothing there yet. It
// returns that, or what was kept meanwhile.
func (s *KeptSite) Keep(who, what any) any {
	for {
		if kept := s.Of(who); kept != nil {
			return kept
		}
		before := s.beside.Load()
		var all []beside
		if before != nil {
			all = slices.Clone(*before)
		}
		all = append(all, beside{who, what})
		if s.beside.CompareAndSwap(before, &all) {
			return what
		}
	}
}
