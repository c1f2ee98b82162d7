package guard

import (
	"context"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// standaloneSource fetches a file or URL that stands for itself, without a
// request.
type standaloneSource struct {
	fetch     func() policy.Answer
	freshness policy.Freshness
	onFetched func(before, after policy.State)
}

// standaloneSources are those of all configurations that have not ended. The
// zero value is empty.
type standaloneSources struct {
	mu    sync.Mutex
	known map[policy.Key][]*standaloneSource // the one configured last at the end
}

// add makes a source known until ctx ends, as it does for a configuration that
// fails to load.
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

// of returns the source that was configured last, nil if there is none.
func (s *standaloneSources) of(key policy.Key) *standaloneSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.known[key]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// standalone returns the guard's source as it is fetched without a request.
func (g *Guard) standalone() *standaloneSource {
	key := policy.Key{Source: g.SourceKey}
	fetch, _ := g.Source.Prepare(nil, key, origin.Witness{})
	return &standaloneSource{
		fetch:     g.timed(fetch, nil, key),
		freshness: g.Freshness,
		onFetched: func(before, after policy.State) {
			// It stands for all sites of the guard, and is told of once.
			s := request.Site{Key: key, Segment: policy.Named, Label: judge.OtherName}
			for label := range g.sites.All() {
				if s.Label == judge.OtherName || label < s.Label && label != judge.OtherName {
					s.Label = label
				}
			}
			g.onFetched(s)(before, after)
		},
	}
}
