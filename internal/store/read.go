package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
)

// parallelReads is the maximum number of concurrent reads. A remote storage can be slow.
const parallelReads = 8

// maxObjects is the maximum number of objects in a JSON value, because a small value can need much
// memory. The largest written value has 8,000 objects.
const maxObjects = 20_000

// Read restores the stored values of all instances, except the ledger, and removes values that were
// not refreshed for 31 days. Read reports whether all reads succeeded. [Store.Start] calls Read
// once a day, and sooner after a failure.
func (s *Store) Read(ctx context.Context) bool {
	keys, quarantined, skipped, err := s.listAll(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.log(failureLevel(&s.readFailed), "the storage cannot be listed; no policies are restored from it", zap.Error(err))
		}
		return false
	}
	summary := newReadSummary(&s.readFailed)
	s.readAll(ctx, quarantined, nil, summary)
	ownFailures := 0
	for i := range s.kinds {
		var isCached func(k key, modified time.Time) bool
		if p, ok := s.kinds[i].valueKind.(*policyValues); ok {
			isCached = p.cachedValues()
		}
		failuresBefore := summary.failedReads
		s.readAll(ctx, keys[i], isCached, summary)
		if s.kinds[i].needsReadFirst {
			ownFailures += summary.failedReads - failuresBefore
		}
	}
	if ctx.Err() == nil {
		s.ownValuesRead = s.ownValuesRead || ownFailures == 0
		s.logSummary(summary, skipped)
	}
	return summary.failedReads == 0
}

// listAll returns the keys of all stored values except the ledger: a list for each kind, in the
// order of s.kinds, with the keys of this instance first. It also returns the keys in quarantine,
// and the number of policies that exceed the limit.
func (s *Store) listAll(ctx context.Context) (keys [][]key, quarantined []key, skipped int, err error) {
	instances, err := s.listInstances(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	keys = make([][]key, len(s.kinds))
	for _, instance := range putOwnFirst(instances, s.instance) {
		quarantinedKeys, err := s.listKeys(ctx, key{instance: instance, kind: quarantineDir})
		if err != nil {
			return nil, nil, 0, err
		}
		quarantined = append(quarantined, quarantinedKeys...)
		for i := range s.kinds {
			kindKeys, err := s.listKind(ctx, instance, &s.kinds[i])
			if err != nil {
				return nil, nil, 0, err
			}
			keys[i] = append(keys[i], kindKeys...)
		}
	}
	s.peers.dropMissingPeers(instances)
	for i := range s.kinds {
		if excess := len(keys[i]) - s.maxPolicyValues; excess > 0 && s.kinds[i].name == kindPolicies {
			skipped += excess
			keys[i] = keys[i][:s.maxPolicyValues]
		}
	}
	return keys, quarantined, skipped, nil
}

// putOwnFirst returns the instances in their order, but with own first.
func putOwnFirst(instances []string, own string) []string {
	sorted := []string{own}
	for _, instance := range instances {
		if instance != own {
			sorted = append(sorted, instance)
		}
	}
	return sorted
}

// readAll restores the values with these keys, except those for which isCached returns true.
// isCached may be nil, and is called concurrently.
func (s *Store) readAll(ctx context.Context, keys []key, isCached func(k key, modified time.Time) bool, summary *readSummary) {
	queue := make(chan key)
	var readers sync.WaitGroup
	for range min(parallelReads, len(keys)) {
		readers.Go(func() {
			for k := range queue {
				size, modified, err := s.stat(ctx, k)
				switch {
				case err != nil:
					s.recordReadFailure(k, err, summary)
				case isCached == nil || !isCached(k, modified):
					s.readValue(ctx, k, size, modified, summary)
				}
			}
		})
	}
	for _, k := range keys {
		if ctx.Err() != nil {
			break
		}
		queue <- k
	}
	close(queue)
	readers.Wait()
}

// readValue reads and restores a value of which the size and the modification time are known.
// readValue removes a value that was not refreshed for 31 days.
func (s *Store) readValue(ctx context.Context, k key, size int64, modified time.Time, summary *readSummary) {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	if k.instance != s.instance {
		s.peers.recordWrite(k.instance, modified)
	}
	v := value{key: k, isOwn: k.instance == s.instance, modified: modified, isExpired: s.isExpired(modified)}
	kind := s.findKind(k)
	switch {
	case kind == nil:
		if v.isExpired {
			s.remove(ctx, k, summary)
		}
		return
	case size > kind.maxBytes:
		s.quarantine(ctx, v, fmt.Errorf("%d bytes are more than the value can have", size), summary)
		return
	}
	var err error
	if v.data, err = s.storage.Load(ctx, k.String()); err != nil {
		s.recordReadFailure(k, err, summary)
		return
	}
	if objects, _ := jsontext.CountContainers(v.data); k.kind != kindLedger && objects > maxObjects {
		s.quarantine(ctx, v, fmt.Errorf("%d objects are more than the value can have", objects), summary)
		return
	}
	s.restoreValue(ctx, kind, v, summary)
}

// restoreValue restores a value that was read. restoreValue removes an expired value, and moves an
// invalid value to quarantine.
func (s *Store) restoreValue(ctx context.Context, kind *kind, v value, summary *readSummary) {
	switch err := kind.restoreValue(v, summary); {
	case err == nil:
		if kind.syncsPeers {
			s.peers.recordRead(v.key, v.modified)
		}
		s.observer.ValueRead(v.key.kind, resultGood)
	case errors.Is(err, errIncomplete):
		s.observer.ValueRead(v.key.kind, resultGood)
	case errors.Is(err, errExpired):
		s.remove(ctx, v.key, summary)
	default:
		s.quarantine(ctx, v, err, summary)
	}
}

// isExpired reports whether 31 days have passed since a value was written. The result is false for
// the zero time, which means unknown.
func (s *Store) isExpired(written time.Time) bool {
	return !written.IsZero() && s.now().Sub(written) >= maxValueAge
}
