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

// candidateLife is the maximum age of a candidate's file. Timed rules and base files can change it.
const candidateLife = time.Minute

// candidates is the list of changes on trial. The zero value is empty.
type candidates struct {
	mu  sync.Mutex // serializes replacements
	all atomic.Pointer[[]*shadow.Candidate]
}

// Try compares a change with the file in force on live requests until end is called.
func (s *State) Try(change *shadow.Candidate) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s.tried.trials.Use(ctx, change.Source)
	remove := s.tried.candidates.add(change)
	return sync.OnceFunc(func() {
		remove()
		cancel()
	})
}

// add adds a change until remove is called.
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

// triedAt returns the file on trial at a site: the shadow of the guard's configuration, or that of a
// change of the site's robots_txt. The zero tried means none.
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

// of returns the file that a candidate composes for a host.
func (t *tries) of(c *shadow.Candidate, s *request.Site, host string) tried {
	key := policy.Key{Source: c.Source, Host: s.Own().Host}
	entry := t.cache.Get(key)
	if entry == nil {
		entry = t.cache.Add(key, s.Segment)
	}
	return tried{entry: entry, from: c.Source, candidate: c, host: host}
}

// isPublished reports whether the host serves the change already. The file on trial is then the
// previous one.
func (t *tried) isPublished() bool {
	return t.candidate != nil && t.candidate.IsPublished != nil && t.candidate.IsPublished(t.host)
}

// Changed makes the copies of hosts due whose robots.txt a handler has changed.
func (s *State) Changed(has func(host string) bool) {
	for _, e := range s.Cache.Entries() {
		if host, _ := addr.CutPort(e.Key().Host); e.Key().Source == "" && has(host) {
			e.MakeDue()
		}
	}
}
