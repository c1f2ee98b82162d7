package guard

import (
	"context"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// rereadInterval is the minimum time between reloads that make every robots.txt due. Frequent
// reloads then do not cause frequent fetches.
const rereadInterval = 10 * time.Second

// reloadRefetches has the last reload with a refetch of every robots.txt.
type reloadRefetches struct {
	mu          sync.Mutex
	lastRefetch time.Time
	numLoads    int // number of loaded configurations
	lastLoad    int // the last configuration to make every robots.txt due, 0 if delayed
}

// RefetchAll makes every cached robots.txt and every base file due after a reload, because the new
// configuration may serve other files. Copies stay in force until the next request of a crawler
// fetches them. Within [rereadInterval] of another call, RefetchAll waits for the end of the interval
// or of ctx.
//
// The previous configuration still serves for a moment. Files fetched in this time are due again
// when the previous configuration ends.
func (s *State) RefetchAll(ctx context.Context) {
	s.rereads.mu.Lock()
	s.rereads.numLoads++
	load := s.rereads.numLoads
	s.rereads.mu.Unlock()
	s.refetchAllFor(ctx, load)
	s.trials.fetchAll()
	context.AfterFunc(ctx, func() { s.refetchAfter(load) })
}

// refetchAfter makes files fetched during the end of a configuration due, if a later configuration
// has made everything due. The next configuration may have failed to load.
func (s *State) refetchAfter(ended int) {
	s.rereads.mu.Lock()
	defer s.rereads.mu.Unlock()
	if s.rereads.lastLoad <= ended {
		return
	}
	now := time.Now()
	for _, cache := range s.caches() {
		for _, e := range cache.Entries() {
			if !e.IsDue(now) {
				e.MakeDue()
			}
		}
	}
}

// caches returns all caches of robots.txt files.
func (s *State) caches() []*policy.Cache {
	return []*policy.Cache{s.Cache, s.Bases, s.trials.cache}
}

// refetchAllFor is RefetchAll for the configuration with a number.
func (s *State) refetchAllFor(ctx context.Context, load int) {
	s.rereads.mu.Lock()
	defer s.rereads.mu.Unlock()
	now := time.Now()
	if wait := rereadInterval - now.Sub(s.rereads.lastRefetch); wait > 0 && !s.rereads.lastRefetch.IsZero() {
		timer := time.AfterFunc(wait, func() { s.refetchAllFor(ctx, 0) })
		context.AfterFunc(ctx, func() { timer.Stop() })
		return
	}
	if ctx.Err() != nil {
		return
	}
	s.rereads.lastLoad = load
	for _, cache := range s.caches() {
		for _, e := range cache.Entries() {
			if load == 1 && e.State() == nil {
				continue // a request of this configuration has started the fetch
			}
			s.rereads.lastRefetch = now // not set by a start with an empty cache
			e.MakeDue()
		}
	}
}
