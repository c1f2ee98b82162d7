package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

const (
	// visitInterval is the time between two writes of a site of which only the visits have changed.
	visitInterval = time.Minute

	// maxChanges is the maximum number of sites to read per instance.
	maxChanges = 2048
)

// changes stores delayed changes of robots.txt files and visits of search engines, by site.
type changes struct {
	store *Store
	tracker
}

func (c *changes) due(_ context.Context, last bool) iter.Seq[pending] {
	known, now := c.store.memory.parts.Changes, c.store.now()
	return func(yield func(pending) bool) {
		sites := known.Sites()
		names := make(map[string]bool, len(sites))
		for _, site := range sites {
			name := siteName(site)
			names[name] = true
			holds, visits := known.Revision(site)
			wait := unlessLast(last, visitInterval)
			if c.get(name).at.urgent != holds {
				wait = 0
			}
			p, ok := c.tracker.due(change{
				name: name, about: zap.Stringer("site", site), at: revision{urgent: holds, other: visits}, wait: wait,
				encode: func() (ledger.Document, bool, error) {
					kept, ok := known.Snapshot(site)
					d, err := kept.Encode(c.store.now())
					return d, !ok, err
				},
			}, now)
			if ok && !yield(p) {
				return
			}
		}
		c.forget(names)
	}
}

func (c *changes) take(v value, found *summary) error {
	kept, d, err := ledger.DecodeChanges(v.data)
	switch {
	case err != nil:
		return err
	case siteName(kept.Site) != v.key.name:
		return fmt.Errorf("the value is about %s, which has another key", kept.Site)
	case c.store.isExpired(d.Saved):
		return errExpired
	}
	held, complete := 0, true
	if v.own || !kept.Site.IsFile() { // other instances may have a different file at the same path
		held, complete = c.restore(kept, !v.own)
	}
	found.heldAgain(held)
	if v.own {
		c.set(v.key.name, tracked{sum: d.Sum, saved: d.Saved})
	}
	if !complete {
		return errIncomplete
	}
	return nil
}

func (c *changes) restore(kept ledger.Changes, elsewhere bool) (held int, complete bool) {
	parts := c.store.memory.parts
	if e := parts.Policies.Get(kept.Site); e != nil {
		return parts.Changes.Restore(kept, e.State(), elsewhere)
	}
	return parts.Changes.Restore(kept, nil, elsewhere)
}
