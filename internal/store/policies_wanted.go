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
		case site := <-s.wanted():
			s.readSite(ctx, s.policies, site)
		default:
			return
		}
	}
}

// wanted are sites that are asked for, nil if their policies are not kept.
func (s *Store) wanted() <-chan policy.Key {
	if s.policies == nil {
		return nil
	}
	return s.memory.wanted
}

// readSite takes into its cache what this instance and its peers have stored of a
// site.
func (s *Store) readSite(ctx context.Context, p *policies, site policy.Key) {
	found := newSummary()
	for _, instance := range append([]string{s.instance}, s.peers.active(s.now())...) {
		s.readOne(ctx, p.keyOf(instance, site), found)
		if found.failed > 0 || ctx.Err() != nil {
			break
		}
	}
	clear(found.restored) // it goes on all the time where the cache is too small
	if ctx.Err() != nil {
		s.memory.Want(site) // the store of the next configuration reads it
		return
	}
	s.report(found, 0)
}
