package store

import (
	"context"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// wantedAtOnce is how many sites are asked for between two looks at what is to be
// written.
const wantedAtOnce = 64

// readWanted takes into the cache what is stored of the sites that are asked for.
func (s *Store) readWanted(ctx context.Context) {
	for range wantedAtOnce {
		select {
		case site := <-s.memory.wanted:
			s.readSite(ctx, site)
		default:
			return
		}
	}
}

// readSite takes into the cache what this instance and its peers have stored of a
// site.
func (s *Store) readSite(ctx context.Context, site policy.Key) {
	found := newSummary()
	for _, instance := range append([]string{s.instance}, s.peers.active(s.now())...) {
		s.readOne(ctx, s.policies.keyOf(instance, site), found)
		if found.failed > 0 || ctx.Err() != nil {
			break
		}
	}
	clear(found.restored) // it goes on all the time where the cache is too small
	if ctx.Err() == nil {
		s.report(found, 0)
	}
}
