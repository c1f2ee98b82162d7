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

	// maxChangeSites is the maximum number of sites to read per instance.
	maxChangeSites = 2048
)

// changeValues stores delayed changes of robots.txt files and visits of search engines, by site.
type changeValues struct {
	store *Store
	tracker
}

func (c *changeValues) pendingWrites(_ context.Context, last bool) iter.Seq[pendingWrite] {
	changes, now := c.store.memory.parts.Changes, c.store.now()
	return func(yield func(pendingWrite) bool) {
		sites := changes.Sites()
		names := make(map[string]bool, len(sites))
		for _, site := range sites {
			name := siteName(site)
			names[name] = true
			changeRevision, visitRevision := changes.Revision(site)
			minInterval := zeroIfLast(last, visitInterval)
			if c.get(name).revision.urgent != changeRevision {
				minInterval = 0
			}
			write, ok := c.tracker.pendingWrite(valueChange{
				name: name, logField: zap.Stringer("site", site), revision: revision{urgent: changeRevision, other: visitRevision}, minInterval: minInterval,
				encode: func() (ledger.Document, bool, error) {
					stored, ok := changes.Snapshot(site)
					d, err := stored.Encode(c.store.now())
					return d, !ok, err
				},
			}, now)
			if ok && !yield(write) {
				return
			}
		}
		c.dropUnneeded(names)
	}
}

func (c *changeValues) restoreValue(v value, summary *readSummary) error {
	stored, d, err := ledger.DecodeChanges(v.data)
	switch {
	case err != nil:
		return err
	case siteName(stored.Site) != v.key.name:
		return fmt.Errorf("the value belongs to %s, which has another key", stored.Site)
	case c.store.isExpired(d.Saved):
		return errExpired
	}
	delayed, complete := 0, true
	if v.isOwn || !stored.Site.IsFile() { // other instances may have a different file at the same path
		delayed, complete = c.restore(stored, !v.isOwn)
	}
	summary.countDelayed(delayed)
	if v.isOwn {
		c.set(v.key.name, writtenValue{hash: d.Sum, saved: d.Saved})
	}
	if !complete {
		return errIncomplete
	}
	return nil
}

func (c *changeValues) restore(stored ledger.Changes, fromPeer bool) (delayed int, complete bool) {
	parts := c.store.memory.parts
	if entry := parts.Policies.Get(stored.Site); entry != nil {
		return parts.Changes.Restore(stored, entry.State(), fromPeer)
	}
	return parts.Changes.Restore(stored, nil, fromPeer)
}
