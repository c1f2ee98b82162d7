package publish

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// Site is what this instance knows of the changes of a site. It outlives a
// configuration, and a storage that fails.
type Site struct {
	busy chan struct{} // has one value while somebody reads or writes the storage

	mu    sync.Mutex
	state History
	known bool
	specs map[string][]byte // of what is in use, as far as they were asked for
	last  []byte            // the spec that was served last, nil for none
	alone bool              // it was served while nothing was known
	turns uint64
}

// NewSite returns a site of which nothing is known.
func NewSite() *Site { return &Site{busy: make(chan struct{}, 1)} }

// begin waits until nobody else of this instance reads or writes, so that what is
// learned is never older than what is known.
func (s *Site) begin(ctx context.Context) (end func(), err error) {
	select {
	case s.busy <- struct{}{}:
		return func() { <-s.busy }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// History returns what is known, and whether something is.
func (s *Site) History() (History, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.known
}

// Begin says that another configuration decides from now on what is submitted. It
// returns what tells whether it still does: one that has ended must not submit after
// the next.
func (s *Site) Begin() (isLatest func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns++
	mine := s.turns
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.turns == mine
	}
}

// learn takes in what is stored.
func (s *Site) learn(state History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.known = state, true
	maps.DeleteFunc(s.specs, func(id string, _ []byte) bool { return !slices.Contains(state.inUse(), id) })
}

// Serve notes which spec is served from now on, and whether that is so while nothing is known
// of a history.
func (s *Site) Serve(spec []byte, alone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.alone = spec, alone
}

// Served returns what was noted last by [Site.Serve], nil for nothing. It outlives a
// configuration.
func (s *Site) Served() (spec []byte, alone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.alone
}

// spec returns a spec that is known.
func (s *Site) spec(id string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, ok := s.specs[id]
	return spec, ok
}

// keep keeps a spec that is in use.
func (s *Site) keep(id string, spec []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.specs == nil {
		s.specs = make(map[string][]byte)
	}
	if slices.Contains(s.state.inUse(), id) {
		s.specs[id] = spec
	}
}

// inUse returns the IDs of what is published and of the candidate.
func (h *History) inUse() []string {
	ids := []string{h.PublishedID()}
	if h.Pending != nil {
		ids = append(ids, h.Pending.ID)
	}
	return ids
}

// Sites are what this instance knows of the sites of its configurations. The zero
// Sites is empty.
type Sites struct {
	mu    sync.Mutex
	sites map[string]*used
}

// used is a site with how many configurations have it.
type used struct {
	*Site
	by int
}

// Use returns the site of a name, the same as for the configuration before. When
// nobody uses it any more it is forgotten.
func (s *Sites) Use(name string) (site *Site, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sites == nil {
		s.sites = make(map[string]*used)
	}
	u := s.sites[name]
	if u == nil {
		u = &used{Site: NewSite()}
		s.sites[name] = u
	}
	u.by++
	return u.Site, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u.by--; u.by == 0 {
			delete(s.sites, name)
		}
	})
}

// Report returns the changes of each site that are known, by name.
func (s *Sites) Report() map[string][]report.ManagedChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string][]report.ManagedChange, len(s.sites))
	for name, u := range s.sites {
		if h, known := u.History(); known {
			all[name] = h.report()
		}
	}
	return all
}
