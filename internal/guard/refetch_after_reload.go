package guard

import (
	"context"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// refetchInterval is the minimum time between reloads that make every robots.txt due. Frequent
// reloads then do not cause frequent fetches.
const refetchInterval = 10 * time.Second

// reloadRefetches records the last time at which a reload made every robots.txt due.
type reloadRefetches struct {
	mu          sync.Mutex
	lastRefetch time.Time
	numLoads    int // numLoads is the number of loaded configurations. It numbers the configurations from 1.
	// refetchedBy is the number of the configuration that made every robots.txt due at lastRefetch, or
	// 0 if it did so only at the end of refetchInterval.
	refetchedBy int
}

// RefetchAll makes every cached robots.txt, every base file and every file on trial due after a
// reload, because the new configuration may serve other files. Cached files stay in force until the
// next crawler's request fetches them. Within [refetchInterval] of another call, the files become
// due at the end of the interval, unless ctx ends before.
//
// The previous configuration still serves for a moment. Files fetched in this time are due again
// when the previous configuration ends:
//
//	load 1 starts        nothing is cached
//	load 2 starts        all files become due
//	load 1 ends          all files become due again, since load 2 is later than load 1
//	load 3 fails, ends   nothing, since no later load made the files due
func (s *State) RefetchAll(ctx context.Context) {
	s.refetches.mu.Lock()
	s.refetches.numLoads++
	load := s.refetches.numLoads
	s.refetches.mu.Unlock()
	s.refetchAllForLoad(ctx, load)
	s.trials.fetchConfiguredFiles()
	context.AfterFunc(ctx, func() { s.refetchAfterEnd(load) })
}

// refetchAfterEnd makes every robots.txt due at the end of a configuration, which has the number
// ended. It does nothing unless a later configuration made every robots.txt due: the configuration
// that has ended may be one that failed to load.
func (s *State) refetchAfterEnd(ended int) {
	s.refetches.mu.Lock()
	defer s.refetches.mu.Unlock()
	if s.refetches.refetchedBy <= ended {
		return
	}
	now := time.Now()
	for _, cache := range s.robotsCaches() {
		for _, e := range cache.Entries() {
			if !e.IsDue(now) {
				e.MakeDue()
			}
		}
	}
}

// robotsCaches returns all caches of robots.txt files.
func (s *State) robotsCaches() []*policy.Cache {
	return []*policy.Cache{s.Cache, s.Bases, s.trials.cache}
}

// refetchAllForLoad makes every robots.txt due after a reload. load is the number of the
// configuration. If the last call was less than refetchInterval ago, it does so at the end of that
// time, with 0 for load.
func (s *State) refetchAllForLoad(ctx context.Context, load int) {
	s.refetches.mu.Lock()
	defer s.refetches.mu.Unlock()
	now := time.Now()
	if wait := refetchInterval - now.Sub(s.refetches.lastRefetch); wait > 0 && !s.refetches.lastRefetch.IsZero() {
		timer := time.AfterFunc(wait, func() { s.refetchAllForLoad(ctx, 0) })
		context.AfterFunc(ctx, func() { timer.Stop() })
		return
	}
	if ctx.Err() != nil {
		return
	}
	s.refetches.refetchedBy = load
	for _, cache := range s.robotsCaches() {
		for _, e := range cache.Entries() {
			if load == 1 && e.State() == nil {
				continue // A request of this configuration has started the fetch.
			}
			s.refetches.lastRefetch = now // A start with an empty cache does not set it.
			e.MakeDue()
		}
	}
}
