package caddymodule

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	maxWanted   = 256 // sites that wait for what is stored of them
	maxToldBy   = 8   // siblings that are asked about one site
	adoptedOnce = 64  // sites between two looks at what is to be written
)

// want asks for what is stored of a site that was not in the cache: it may have
// been there before, and have been dropped for others. Nobody waits for it.
func (s *state) want(site site) {
	if site.segment != policy.Named {
		return
	}
	select {
	case s.wanted <- site.key:
	default: // nobody reads the storage, or not fast enough
	}
}

// awaitStored waits until it is known what is stored, as a crawler waits for a
// first copy. Caddy starts its apps in no order, so requests may come before.
func (s *state) awaitStored(r *http.Request, most time.Duration) {
	restored := s.restored.Load()
	if restored == nil {
		return
	}
	awaitClosed(r, *restored, most)
}

// adoptWanted takes into the cache what is stored of the sites that are asked
// for.
func (s *store) adoptWanted(ctx context.Context) {
	for range adoptedOnce {
		select {
		case key := <-s.state.wanted:
			s.adopt(ctx, key)
		default:
			return
		}
	}
}

// adopt takes into the cache what this instance and others have stored of a
// site.
func (s *store) adopt(ctx context.Context, site policy.Key) {
	found := &survey{restored: make(map[policy.Key]bool)}
	for _, instance := range append([]string{s.instance}, s.lively()...) {
		s.readOne(ctx, storageKeyOf(instance, site), found)
		if found.failed > 0 || ctx.Err() != nil {
			break
		}
	}
	clear(found.restored) // it goes on all the time where the cache is too small
	if ctx.Err() == nil {
		s.report(found, 0)
	}
}

// lively returns the siblings that were heard of last.
func (s *store) lively() (all []string) {
	for instance, sibling := range s.notes.siblings {
		if s.now().Sub(sibling.latest) < quietAfter {
			all = append(all, instance)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(s.notes.siblings[b].latest.Compare(s.notes.siblings[a].latest), cmp.Compare(a, b))
	})
	return all[:min(len(all), maxToldBy)]
}

// forgotten reports whether the cache has dropped a site since it was stored,
// with the versions that it knew.
func (known storedPolicy) forgotten(now *policy.Standing) bool {
	if known.lastRead.IsZero() || !now.Good.FirstRead.After(known.lastRead) {
		return false
	}
	return !slices.ContainsFunc(now.Past, func(v *policy.Version) bool { return v.Hash == known.hash })
}
