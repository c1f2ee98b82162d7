package publish

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// Site is the history of a site in memory. A Site outlives a configuration, and failures of the storage.
type Site struct {
	busy chan struct{} // has one value while the storage is read or written

	mu             sync.Mutex
	state          History
	known          bool
	specs          map[string][]byte // of the published and the pending change
	withoutHistory []byte            // spec served without a history; nil if the history is served
	configurations uint64
}

// NewSite returns a site without a known history.
func NewSite() *Site { return &Site{busy: make(chan struct{}, 1)} }

// beginOperation waits until no other goroutine reads or writes the storage. Otherwise an earlier read could
// overwrite a later one.
func (s *Site) beginOperation(ctx context.Context) (end func(), err error) {
	select {
	case s.busy <- struct{}{}:
		return func() { <-s.busy }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// History returns the history. The result is false if the history is unknown.
func (s *Site) History() (History, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.known
}

// BecomeLatest makes a configuration the latest. isLatest reports whether it still is. An ended
// configuration must not submit after its successor.
func (s *Site) BecomeLatest() (isLatest func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configurations++
	mine := s.configurations
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.configurations == mine
	}
}

// setHistory stores a history in memory.
func (s *Site) setHistory(state History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.known = state, true
	maps.DeleteFunc(s.specs, func(id string, _ []byte) bool { return !slices.Contains(state.inUse(), id) })
}

// SetServedWithoutHistory records the spec served without a history. Nil means that the history is served.
func (s *Site) SetServedWithoutHistory(spec []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withoutHistory = spec
}

// ServedWithoutHistory returns the spec served without a history, or nil.
func (s *Site) ServedWithoutHistory() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withoutHistory
}

// spec returns a spec from memory.
func (s *Site) spec(id string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, ok := s.specs[id]
	return spec, ok
}

// keepSpec stores a spec in memory if it is in use.
func (s *Site) keepSpec(id string, spec []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.specs == nil {
		s.specs = make(map[string][]byte)
	}
	if slices.Contains(s.state.inUse(), id) {
		s.specs[id] = spec
	}
}

// inUse returns the IDs of the published and the pending change.
func (h *History) inUse() []string {
	ids := []string{h.PublishedID()}
	if h.Pending != nil {
		ids = append(ids, h.Pending.ID)
	}
	return ids
}

// Sites are the histories of all sites in memory. The zero Sites is empty.
type Sites struct {
	mu    sync.Mutex
	sites map[string]*sharedSite
}

// sharedSite is a site with the number of its configurations.
type sharedSite struct {
	*Site
	users int
}

// Use returns the site of a name. The caller calls release after use. Overlapping configurations share the
// site.
func (s *Sites) Use(name string) (site *Site, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sites == nil {
		s.sites = make(map[string]*sharedSite)
	}
	u := s.sites[name]
	if u == nil {
		u = &sharedSite{Site: NewSite()}
		s.sites[name] = u
	}
	u.users++
	return u.Site, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u.users--; u.users == 0 {
			delete(s.sites, name)
		}
	})
}

// Report returns the changes of each site, by name.
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
