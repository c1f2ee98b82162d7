package publish

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// SiteHistory is the history of a site in memory. A Site outlives a configuration, and failures of the storage.
type SiteHistory struct {
	storageLock chan struct{} // has one value while the storage is read or written

	mu             sync.Mutex
	history        History
	isKnown        bool
	specs          map[string][]byte // of the published and the pending change
	withoutHistory []byte            // spec served without a history; nil if the history is served
	configurations uint64
}

// NewSiteHistory returns a site without a known history.
func NewSiteHistory() *SiteHistory { return &SiteHistory{storageLock: make(chan struct{}, 1)} }

// lockStorage waits until no other goroutine reads or writes the storage. Otherwise an earlier read could
// overwrite a later one.
func (s *SiteHistory) lockStorage(ctx context.Context) (end func(), err error) {
	select {
	case s.storageLock <- struct{}{}:
		return func() { <-s.storageLock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// History returns the history. The result is false if the history is unknown.
func (s *SiteHistory) History() (History, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history, s.isKnown
}

// BecomeLatest makes a configuration the latest. isLatest reports whether it still is. An ended
// configuration must not submit after its successor.
func (s *SiteHistory) BecomeLatest() (isLatest func() bool) {
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
func (s *SiteHistory) setHistory(state History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history, s.isKnown = state, true
	maps.DeleteFunc(s.specs, func(id string, _ []byte) bool { return !slices.Contains(state.specIDsInUse(), id) })
}

// SetServedWithoutHistory records the spec served without a history. Nil means that the history is served.
func (s *SiteHistory) SetServedWithoutHistory(spec []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withoutHistory = spec
}

// ServedWithoutHistory returns the spec served without a history, or nil.
func (s *SiteHistory) ServedWithoutHistory() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withoutHistory
}

// findSpec returns a spec from memory.
func (s *SiteHistory) findSpec(id string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, ok := s.specs[id]
	return spec, ok
}

// cacheSpec stores a spec in memory if it is in use.
func (s *SiteHistory) cacheSpec(id string, spec []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.specs == nil {
		s.specs = make(map[string][]byte)
	}
	if slices.Contains(s.history.specIDsInUse(), id) {
		s.specs[id] = spec
	}
}

// specIDsInUse returns the IDs of the published and the pending change.
func (h *History) specIDsInUse() []string {
	ids := []string{h.PublishedID()}
	if h.Pending != nil {
		ids = append(ids, h.Pending.ID)
	}
	return ids
}

// SiteHistories are the histories of all sites in memory. The zero Sites is empty.
type SiteHistories struct {
	mu    sync.Mutex
	sites map[string]*sharedSite
}

// sharedSite is a site with the number of its configurations.
type sharedSite struct {
	*SiteHistory
	numUsers int
}

// Acquire returns the site of a name. The caller calls release after use. Overlapping configurations share the
// site.
func (s *SiteHistories) Acquire(name string) (site *SiteHistory, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sites == nil {
		s.sites = make(map[string]*sharedSite)
	}
	u := s.sites[name]
	if u == nil {
		u = &sharedSite{SiteHistory: NewSiteHistory()}
		s.sites[name] = u
	}
	u.numUsers++
	return u.SiteHistory, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u.numUsers--; u.numUsers == 0 {
			delete(s.sites, name)
		}
	})
}

// Report returns the changes of each site, by name.
func (s *SiteHistories) Report() map[string][]report.ManagedChange {
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
