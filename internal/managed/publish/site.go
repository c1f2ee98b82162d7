package publish

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// SiteHistory is the copy of a site's history in memory. It outlives configurations, and failures
// of the storage.
type SiteHistory struct {
	storageLock chan struct{} // The channel contains one value while the storage is read or written.
	// numUsers counts the calls of [SiteHistories.Acquire] that were not released. The mutex of
	// SiteHistories guards it.
	numUsers int

	mu      sync.Mutex
	history History
	isKnown bool
	specs   map[string][]byte // These are the specs of the published and the pending change, by ID.
	// withoutHistory is the spec that is served while the history is unknown. It is nil if the history
	// is served.
	withoutHistory []byte
	configurations uint64
}

// NewSiteHistory returns a SiteHistory whose history is not known yet.
func NewSiteHistory() *SiteHistory { return &SiteHistory{storageLock: make(chan struct{}, 1)} }

// lockStorage waits until no other goroutine reads or writes the stored history. Without this lock,
// the result of an earlier read could replace that of a later one.
func (s *SiteHistory) lockStorage(ctx context.Context) (end func(), err error) {
	select {
	case s.storageLock <- struct{}{}:
		return func() { <-s.storageLock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// History returns the history. known is false until it was read for the first time.
func (s *SiteHistory) History() (history History, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history, s.isKnown
}

// BecomeLatest makes the caller's configuration the latest of the site. isLatest reports whether it
// still is. A configuration that has ended must not submit after its successor.
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

// setHistory replaces the history, and drops specs that are no longer in use.
func (s *SiteHistory) setHistory(state History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history, s.isKnown = state, true
	maps.DeleteFunc(s.specs, func(id string, _ []byte) bool { return !slices.Contains(state.specIDsInUse(), id) })
}

// SetServedWithoutHistory records the spec that is served while the history is unknown. Nil means
// that the history is served.
func (s *SiteHistory) SetServedWithoutHistory(spec []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withoutHistory = spec
}

// ServedWithoutHistory returns the spec that is served while the history is unknown, or nil.
func (s *SiteHistory) ServedWithoutHistory() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withoutHistory
}

// findSpec returns the spec with an ID if it is in memory.
func (s *SiteHistory) findSpec(id string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, ok := s.specs[id]
	return spec, ok
}

// cacheSpec keeps a spec in memory if the published or the pending change uses it.
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

// SiteHistories has the histories of all sites in memory. The zero value is empty.
type SiteHistories struct {
	mu    sync.Mutex
	sites map[string]*SiteHistory
}

// Acquire returns the history of the site with a name. Configurations that overlap during a reload
// share it. The caller calls release after use.
func (s *SiteHistories) Acquire(name string) (site *SiteHistory, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sites == nil {
		s.sites = make(map[string]*SiteHistory)
	}
	u := s.sites[name]
	if u == nil {
		u = NewSiteHistory()
		s.sites[name] = u
	}
	u.numUsers++
	return u, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u.numUsers--; u.numUsers == 0 {
			delete(s.sites, name)
		}
	})
}

// Report returns the changes of each site whose history is known, by the site's name.
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
