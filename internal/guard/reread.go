package guard

import (
	"context"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// rereadInterval is how often reloads make every robots.txt due: a program that
// reloads all the time must not have the sites asked all the time.
const rereadInterval = 10 * time.Second

// rereads say when a reload made every robots.txt due last.
type rereads struct {
	mu       sync.Mutex
	last     time.Time
	loads    int // how many configurations were loaded
	lastLoad int // number of the configuration that made every robots.txt due last, 0 if its call was delayed
}

// Reread makes every robots.txt that is known due, the bases of composed ones
// among them: a new configuration may serve others, and who reloads an unchanged
// one by force wants them read again. What is known holds until they are read,
// which is at the next request of a crawler. Within [rereadInterval] of another
// that happens at its end, unless ctx, of the configuration, has ended by then.
//
// The configuration before serves for a moment beside the new one: what was read by
// then is due again once it has ended.
func (s *State) Reread(ctx context.Context) {
	s.rereads.mu.Lock()
	s.rereads.loads++
	load := s.rereads.loads
	s.rereads.mu.Unlock()
	s.reread(ctx, load)
	s.tried.readAll()
	context.AfterFunc(ctx, func() { s.rereadAfter(load) })
}

// rereadAfter makes due what was read while a configuration ended, if a later one made
// everything due when it was loaded: not always the next, which may have failed.
func (s *State) rereadAfter(ended int) {
	s.rereads.mu.Lock()
	defer s.rereads.mu.Unlock()
	if s.rereads.lastLoad <= ended {
		return
	}
	now := time.Now()
	for _, cache := range s.caches() {
		for _, e := range cache.Entries() {
			if !e.Due(now) {
				e.MakeDue()
			}
		}
	}
}

// caches are all that is known of robots.txt files.
func (s *State) caches() []*policy.Cache {
	all := []*policy.Cache{s.Cache, s.Bases}
	if s.tried != nil {
		all = append(all, s.tried.cache)
	}
	return all
}

// reread is Reread for the configuration of a number.
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
				continue // requests may come before this: what they have begun to read is by this very configuration
			}
			s.rereads.last = now // a start, with nothing known, delays no reload
			e.MakeDue()
		}
	}
}
