package store

import (
	"context"
)

// Sync reads the values that other instances have written since the last sync. [Store.Start] calls
// Sync every 15 seconds.
func (s *Store) Sync(ctx context.Context) {
	if s.onlyBases {
		return
	}
	summary := newReadSummary(&s.readFailed)
	if !s.ownValuesRead {
		for i := range s.kinds {
			if s.kinds[i].needsReadFirst {
				s.syncKind(ctx, s.instance, &s.kinds[i], summary)
			}
		}
		if ctx.Err() == nil && summary.failedReads == 0 {
			s.ownValuesRead = true
		}
	}
	instances, err := s.listInstances(ctx) // After an error, known peers are still read.
	for _, instance := range s.peers.duePeers(instances, s.instance, s.now()) {
		startedAt := s.now()
		for i := range s.kinds {
			if s.kinds[i].syncsPeers {
				s.syncKind(ctx, instance, &s.kinds[i], summary)
			}
		}
		if summary.failedReads == 0 && ctx.Err() == nil {
			s.peers.recordSync(instance, startedAt)
		}
	}
	if err != nil {
		summary.recordFailure(err)
	}
	if ctx.Err() == nil {
		s.logSummary(summary, 0)
	}
}

// syncKind reads the changed values of a kind and an instance. It stops at the first failure.
func (s *Store) syncKind(ctx context.Context, instance string, kind *kind, summary *readSummary) {
	if summary.failedReads > 0 || ctx.Err() != nil {
		return
	}
	keys, err := s.listKind(ctx, instance, kind)
	if err != nil {
		s.recordReadFailure(key{instance: instance, kind: kind.name}, err, summary)
	} else {
		s.peers.dropMissingValues(instance, kind.name, keys)
	}
	for _, k := range keys {
		if summary.failedReads > 0 || ctx.Err() != nil {
			return
		}
		size, modified, err := s.stat(ctx, k)
		if err != nil {
			s.recordReadFailure(k, err, summary)
		} else if s.peers.mayHaveChanged(k, modified, s.now()) {
			s.readValue(ctx, k, size, modified, summary)
		}
	}
}
