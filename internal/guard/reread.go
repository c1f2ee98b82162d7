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

// rereads has the last reload with a refetch of every robots.txt.
type rereads struct {
	mu       sync.Mutex
	last     time.Time
	loads    int // number of loaded configurations
	lastLoad int // the last configuration to make every robots.txt due, 0 if delayed
}

// Reread makes every cached robots.txt and every base file due after a reload, because the new
// configuration may serve other files. Copies stay in force until the next request of a crawler
// fetches them. Within [rereadInterval] of another Reread, Reread waits for the end of the interval
// or of ctx.
//
// The previous configuration still serves for a moment. Files fetched in this time are due again
// when the previous configuration ends.
func (s *State) Reread(ctx context.Context) {
	s.rereads.mu.Lock()
	s.rereads.loads++
	load := s.rereads.loads
	s.rereads.mu.Unlock()
	s.reread(ctx, load)
	s.trials.fetchAll()
	context.AfterFunc(ctx, func() { s.rereadAfter(load) })
}

// rereadAfter makes files fetched during the end of a configuration due, if a later configuration
// has made everything due. The next configuration may have failed to load.
func (s *State) rereadAfter(ended int) {
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

// reread is Reread for the configuration with a number.
func (s *State) reread(ctx context.Context, load int) {
	s.rereads.mu.Lock()
	defer s.rereads.mu.Unlock()
	now := time.Now()
	if wait := rereadInterval - now.Sub(s.rereads.last); wait > 0 && !s.rereads.last.IsZero() {
		timer := time.AfterFunc(wait, func() { s.reread(ctx, 0) })
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
			s.rereads.last = now // not set by a start with an empty cache
			e.MakeDue()
		}
	}
}
