package caddymodule

import (
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// sizes are the bounds that running configurations ask for. Two of them run
// while one takes over from the other, and the new one may fail yet: the last
// that still runs decides, and the default where none asks.
type sizes struct {
	mu     sync.Mutex
	last   uint64
	claims []sizeClaim
}

type sizeClaim struct{ id, policies uint64 }

// claim bounds the policies of named sites until release is called with the
// result.
func (s *sizes) claim(cache *policy.Cache, policies int) (id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.claims = append(s.claims, sizeClaim{s.last, uint64(policies)})
	s.apply(cache)
	return s.last
}

func (s *sizes) release(cache *policy.Cache, id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = slices.DeleteFunc(s.claims, func(c sizeClaim) bool { return c.id == id })
	s.apply(cache)
}

func (s *sizes) apply(cache *policy.Cache) {
	bounds := namedBounds
	if len(s.claims) > 0 {
		bounds.Entries = int(s.claims[len(s.claims)-1].policies)
		// Each site has its share of the memory, however many there may be.
		bounds.Bytes = max(bounds.Bytes, namedBounds.Bytes/namedBounds.Entries*bounds.Entries)
	}
	cache.Resize(policy.Named, bounds)
}
