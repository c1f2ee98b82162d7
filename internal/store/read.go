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

// parallelReads is the number of concurrent reads. A remote storage can be slow.
const parallelReads = 8

// maxObjects is the maximum number of objects in a JSON value, because a small value can use much
// memory. The largest written value, of readers, has 8,000 objects.
const maxObjects = 20_000

// Read restores the values of all instances except the ledger, and removes values that were not
// refreshed for 31 days. It reports whether all reads succeeded. [Store.Start] calls Read once a day,
// and sooner after a failure.
func (s *Store) Read(ctx context.Context) bool {
	keys, aside, left, err := s.listAll(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.log(s.levelOfTrouble(false), "the storage cannot be listed; no policies are restored from it", zap.Error(err))
		}
		return false
	}
	found := newSummary()
	s.readAll(ctx, aside, nil, found)
	failed := 0
	for i := range s.kinds {
		var known func(k key, modified time.Time) bool
		if p, ok := s.kinds[i].values.(*policies); ok {
			known = p.held()
		}
		before := found.failed
		s.readAll(ctx, keys[i], known, found)
		if s.kinds[i].after {
			failed += found.failed - before
		}
	}
	if ctx.Err() == nil {
		s.known = s.known || failed == 0
		s.report(found, left)
	}
	return found.failed == 0
}

// listAll returns the keys to read by kind, in table order. The keys of this instance come first. It
// also returns the keys in quarantine, and the number of policies beyond the limit.
func (s *Store) listAll(ctx context.Context) (keys [][]key, aside []key, left int, err error) {
	instances, err := s.instances(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	keys = make([][]key, len(s.kinds))
	stored := make(map[string]bool)
	for _, instance := range ownFirst(instances, s.instance) {
		moved, err := s.keysIn(ctx, key{instance: instance, kind: quarantine})
		if err != nil {
			return nil, nil, 0, err
		}
		aside = append(aside, moved...)
		for i := range s.kinds {
			found, err := s.keys(ctx, instance, &s.kinds[i])
			if err != nil {
				return nil, nil, 0, err
			}
			keys[i] = append(keys[i], found...)
			stored[instance] = stored[instance] || len(found) > 0
		}
	}
	s.peers.keep(instances, s.instance, func(instance string) time.Time {
		if stored[instance] {
			return time.Time{} // the values have the time
		}
		return s.now() // the instance may have just started
	})
	for i := range s.kinds {
		if more := len(keys[i]) - s.maxPolicies; more > 0 && s.kinds[i].name == kindPolicies {
			left += more
			keys[i] = keys[i][:s.maxPolicies]
		}
	}
	return keys, aside, left, nil
}

// ownFirst returns the sorted instances, with this instance first.
func ownFirst(instances []string, own string) []string {
	all := []string{own}
	for _, instance := range instances {
		if instance != own {
			all = append(all, instance)
		}
	}
	return all
}

// readAll restores values into memory. It skips a value if known reports that memory has its content.
// known may be nil, and is called concurrently.
func (s *Store) readAll(ctx context.Context, keys []key, known func(k key, modified time.Time) bool, found *summary) {
	queue := make(chan key)
	var readers sync.WaitGroup
	for range min(parallelReads, len(keys)) {
		readers.Go(func() {
			for k := range queue {
				size, modified, err := s.stat(ctx, k)
				switch {
				case err != nil:
					s.failedRead(k, err, found)
				case known == nil || !known(k, modified):
					s.readStated(ctx, k, size, modified, found)
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

// readStated restores a value of known size and time. It removes a value that was not refreshed for
// 31 days.
func (s *Store) readStated(ctx context.Context, k key, size int64, modified time.Time, found *summary) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	s.peers.heard(k.instance, modified)
	v := value{key: k, own: k.instance == s.instance, modified: modified, old: s.isOld(modified)}
	kind := s.kindOf(k)
	switch {
	case kind == nil:
		if v.old {
			s.remove(ctx, k, found)
		}
		return
	case size > kind.max:
		s.quarantine(ctx, v, fmt.Errorf("%d bytes are more than the value can have", size), found)
		return
	}
	var err error
	if v.data, err = s.storage.Load(ctx, k.String()); err != nil {
		s.failedRead(k, err, found)
		return
	}
	if objects, _ := jsontext.Nesting(v.data); k.kind != kindLedger && objects > maxObjects {
		s.quarantine(ctx, v, fmt.Errorf("%d objects are more than the value can have", objects), found)
		return
	}
	s.takeIn(ctx, kind, v, found)
}

// takeIn restores a value into memory. It removes an expired value and moves an invalid one to
// quarantine.
func (s *Store) takeIn(ctx context.Context, kind *kind, v value, found *summary) {
	switch err := kind.take(v, found); {
	case err == nil:
		if kind.follows {
			s.peers.saw(v.key, v.modified)
		}
		s.observer.ValueRead(v.key.kind, readGood)
	case errors.Is(err, errIncomplete):
		s.observer.ValueRead(v.key.kind, readGood)
	case errors.Is(err, errExpired):
		s.remove(ctx, v.key, found)
	default:
		s.quarantine(ctx, v, err, found)
	}
}

// isOld reports whether a value was not refreshed for 31 days. It returns false for an unknown (zero)
// time.
func (s *Store) isOld(modified time.Time) bool {
	return !modified.IsZero() && s.isExpired(modified)
}

// isExpired reports whether a value was saved at least 31 days ago.
func (s *Store) isExpired(saved time.Time) bool { return s.now().Sub(saved) >= maxUnrefreshed }
