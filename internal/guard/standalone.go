package guard

import (
	"context"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// standaloneSource fetches a configured file or URL without a client's request.
type standaloneSource struct {
	fetch     func(key policy.Key) func() policy.FetchResult
	freshness policy.Freshness
	onFetched func(key policy.Key) func(before, after policy.State)
}

// standaloneSources has the sources of all running configurations. The zero value is empty.
type standaloneSources struct {
	mu    sync.Mutex
	known map[policy.Key][]*standaloneSource // the one configured last at the end
}

// add adds a source until ctx ends.
func (s *standaloneSources) add(ctx context.Context, key policy.Key, source *standaloneSource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[policy.Key][]*standaloneSource)
	}
	s.known[key] = append(s.known[key], source)
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known[key] = slices.DeleteFunc(s.known[key], func(other *standaloneSource) bool { return other == source })
		if len(s.known[key]) == 0 {
			delete(s.known, key)
		}
	})
}

// of returns the source that was configured last, or nil.
func (s *standaloneSources) of(key policy.Key) *standaloneSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.known[policy.Key{Source: key.Source}]
	if len(all) == 0 {
		for other, some := range s.known {
			if site.KeyMatchesTemplate(key.Source, other.Source) {
				all = some
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// standalone returns the guard's source for fetches without a request.
func (g *Guard) standalone() *standaloneSource {
	return &standaloneSource{
		fetch: func(key policy.Key) func() policy.FetchResult {
			fetch, _ := g.Source.Prepare(nil, key)
			return g.timed(fetch, g.shared.Cache.Get(key).Current(), key)
		},
		freshness: g.Freshness,
		onFetched: func(key policy.Key) func(before, after policy.State) {
			return func(before, after policy.State) {
				s := g.siteWith(key)
				g.onFetched(s, g.copiesOf(nil, s))(before, after)
			}
		},
	}
}

// siteWith returns a site for log lines and metrics about a fetch of a source. The source may belong to
// all sites of the guard and is reported once.
func (g *Guard) siteWith(key policy.Key) *site.Site {
	s := &site.Site{Key: key, Segment: key.Segment(), Label: judge.OtherName}
	g.shared.presences.mu.Lock()
	defer g.shared.presences.mu.Unlock()
	for label, own := range g.sites {
		if (*own == key || !g.eachHost) && (s.Label == judge.OtherName || label < s.Label && label != judge.OtherName) {
			s.Label = label
		}
	}
	return s
}
