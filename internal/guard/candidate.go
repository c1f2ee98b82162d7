package guard

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// candidateLife is how long a text of a candidate is used: its rules may change with
// time, and so may what it is composed from.
const candidateLife = time.Minute

// candidates are those that are tried now. The zero candidates are empty.
type candidates struct {
	mu  sync.Mutex // held while they are replaced
	all atomic.Pointer[[]*shadow.Candidate]
}

// Try judges requests by a change beside what is in force until end is called.
func (s *State) Try(change *shadow.Candidate) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s.tried.trials.Use(ctx, change.Source)
	remove := s.tried.candidates.add(change)
	return sync.OnceFunc(func() {
		remove()
		cancel()
	})
}

// add takes in a change until remove is called.
func (t *candidates) add(change *shadow.Candidate) (remove func()) {
	t.replace(func(all []*shadow.Candidate) []*shadow.Candidate { return append(all, change) })
	return func() {
		t.replace(func(all []*shadow.Candidate) []*shadow.Candidate {
			return slices.DeleteFunc(all, func(known *shadow.Candidate) bool { return known == change })
		})
	}
}

func (t *candidates) replace(change func([]*shadow.Candidate) []*shadow.Candidate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*shadow.Candidate
	if before := t.all.Load(); before != nil {
		all = slices.Clone(*before)
	}
	if all = change(all); len(all) == 0 {
		t.all.Store(nil)
		return
	}
	t.all.Store(&all)
}

// triedAt returns what is tried at a site: what the configuration of the guard says, or
// the candidate that is about it. The zero tried is nothing.
func (g *Guard) triedAt(s *request.Site) tried {
	if g.tried.entry != nil || g.shared.tried == nil || g.SourceKey != "" {
		return g.tried
	}
	all := g.shared.tried.candidates.all.Load()
	if all == nil {
		return tried{}
	}
	host, _ := addr.CutPort(s.Own().Host)
	i := slices.IndexFunc(*all, func(c *shadow.Candidate) bool { return c.Has(host) })
	if i < 0 {
		return tried{}
	}
	return g.shared.tried.of((*all)[i], s, host)
}

// of returns what a candidate makes for a host of a site.
func (t *tries) of(c *shadow.Candidate, s *request.Site, host string) tried {
	key := policy.Key{Source: c.Source, Host: s.Own().Host}
	entry := t.cache.Get(key)
	if entry == nil {
		entry = t.cache.Add(key, s.Segment)
	}
	return tried{entry: entry, from: c.Source, candidate: c, host: host}
}

// isPublished reports whether the host is served the change already, so that the file on trial
// is the one before the change.
func (t *tried) isPublished() bool {
	return t.candidate != nil && t.candidate.IsPublished != nil && t.candidate.IsPublished(t.host)
}

// Changed says that hosts are served another robots.txt than until now: our copies of
// it are due.
func (s *State) Changed(has func(host string) bool) {
	for _, e := range s.Cache.Entries() {
		if host, _ := addr.CutPort(e.Key().Host); e.Key().Source == "" && has(host) {
			e.MakeDue()
		}
	}
}
