package store

import (
	"fmt"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// visitInterval is the minimum time between two writes of a site whose delayed changes have not
	// changed, but only its visits.
	visitInterval = time.Minute

	// maxChangeSites is the maximum number of values of the kind "changes" to read per instance.
	maxChangeSites = 2048
)

// newChangeValues returns the values of the kind "changes". There is one for each site, with the
// delayed changes of its robots.txt and the visits of search engines.
func (s *Store) newChangeValues() *trackedValues {
	t := &trackedValues{store: s, restore: s.restoreChanges}
	t.changes = func(bool) iter.Seq[valueChange] {
		changes := s.memory.parts.Changes
		return func(yield func(valueChange) bool) {
			for _, site := range changes.ConfiguredSites() {
				current := revision{}
				current.urgent, current.other = changes.Revisions(site)
				change := valueChange{
					name: siteValueName(site), logField: zap.Stringer("site", site), revision: current,
					encode: func() (ledger.StoredDocument, bool, error) {
						stored, ok := changes.Snapshot(site)
						d, err := stored.Encode(s.now())
						return d, !ok, err
					},
				}
				if t.get(change.name).revision.urgent == current.urgent {
					change.minInterval = visitInterval
				}
				if !yield(change) {
					return
				}
			}
		}
	}
	return t
}

func (s *Store) restoreChanges(v value, summary *readSummary) (writtenValue, error) {
	stored, d, err := ledger.DecodeChangeGuardState(v.data)
	written := writtenValue{hash: d.Checksum, saved: d.Saved}
	switch {
	case err != nil:
		return written, err
	case siteValueName(stored.Site) != v.key.name:
		return written, fmt.Errorf("the value belongs to %s, which has another key", stored.Site)
	case s.isExpired(d.Saved):
		return written, errExpired
	case !v.isOwn && stored.Site.IsFile():
		return written, nil // Other instances may have a different file at the same path.
	}
	var state *policy.State
	if entry := s.memory.parts.Policies.Get(stored.Site); entry != nil {
		state = entry.State()
	}
	delayed, complete := s.memory.parts.Changes.Restore(stored, state, !v.isOwn)
	summary.countDelayed(delayed)
	if !complete {
		return written, errIncomplete
	}
	return written, nil
}
