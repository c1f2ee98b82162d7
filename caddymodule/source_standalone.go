package caddymodule

import (
	"context"
	"slices"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// standaloneSource reads a file or URL that stands for itself, without a
// request.
type standaloneSource struct {
	read      func() policy.Answer
	freshness policy.Freshness
	settled   func(before, after policy.Standing)
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

// readAtOnce reads the robots.txt of an entry if no request is needed for that.
func (s *state) readAtOnce(e *policy.Entry) bool {
	source := s.sources.of(e.Key())
	if source == nil {
		return false
	}
	if done := e.Refresh(source.freshness, source.read, source.settled); done != nil {
		<-done
	}
	return true
}

// standalone returns the guard's source as it is read without a request.
func (g *guard) standalone() *standaloneSource {
	key := policy.Key{Source: g.sourceKey}
	read, _ := g.source.prepare(nil, key, witness{})
	return &standaloneSource{
		read:      timed(read, nil, key, g.fetchTimeout),
		freshness: g.freshness,
		settled: func(before, after policy.Standing) {
			// It stands for all sites of the guard, and is told of once.
			s := site{key: key, segment: policy.Named, label: otherLabel}
			if sites := g.sites.Load(); sites != nil {
				for label := range *sites {
					if s.label == otherLabel || label < s.label && label != otherLabel {
						s.label = label
					}
				}
			}
			g.settled(s)(before, after)
		},
	}
}
