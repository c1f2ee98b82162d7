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

// parallelReads is how many values are read at the same time: storages may be far.
const parallelReads = 8

// maxObjects is how many objects a value in JSON has at most: a few bytes can stand for
// much memory. Eight thousand are in that with the most, of readers.
const maxObjects = 20_000

// Read takes in what all instances have stored but the ledger, which has a time
// of its own, and removes what nobody has refreshed for long. It reports whether all
// could be read. [Store.Start] does it once a day, and sooner where it could not.
func (s *Store) Read(ctx context.Context) bool {
	keys, left, err := s.listAll(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.log(s.levelOfTrouble(false), "the storage cannot be listed; no policies are restored from it", zap.Error(err))
		}
		return false
	}
	found := newSummary()
	s.readAll(ctx, keys[quarantine], nil, found)
	// What is held back is a version, so the policies come first.
	for _, p := range s.versions() {
		s.readAll(ctx, keys[p.kind], p.held(), found)
	}
	failed := found.failed
	for _, k := range s.notes() {
		s.readAll(ctx, keys[k.name()], nil, found)
	}
	if ctx.Err() == nil {
		s.known = s.known || found.failed == failed
		s.report(found, left)
	}
	return found.failed == 0
}

// listAll returns the keys that are to be read by their kinds, those of this
// instance first, and how many policies were left out.
func (s *Store) listAll(ctx context.Context) (keys map[string][]key, left int, err error) {
	instances, err := s.instances(ctx)
	if err != nil {
		return nil, 0, err
	}
	keys = make(map[string][]key)
	stored := make(map[string]bool)
	for _, instance := range ownFirst(instances, s.instance) {
		aside, err := s.keysIn(ctx, key{instance: instance, kind: quarantine})
		if err != nil {
			return nil, 0, err
		}
		keys[quarantine] = append(keys[quarantine], aside...)
		for _, kind := range s.kinds() {
			found, err := s.keys(ctx, instance, kind)
			if err != nil {
				return nil, 0, err
			}
			keys[kind.name()] = append(keys[kind.name()], found...)
			stored[instance] = stored[instance] || len(found) > 0
		}
	}
	s.peers.keep(instances, s.instance, func(instance string) time.Time {
		if stored[instance] {
			return time.Time{} // what it has stored will tell
		}
		return s.now() // it may have just begun
	})
	for _, p := range s.versions() {
		if more := len(keys[p.kind]) - s.maxPolicies; more > 0 {
			left += more
			keys[p.kind] = keys[p.kind][:s.maxPolicies]
		}
	}
	return keys, left, nil
}

// ownFirst returns the instances in order, but this one before the others.
func ownFirst(instances []string, own string) []string {
	all := []string{own}
	for _, instance := range instances {
		if instance != own {
			all = append(all, instance)
		}
	}
	return all
}

// readAll takes values into memory. It leaves out those of which known, if it is not nil,
// reports by when they were written that memory has what they hold. known is called by
// several goroutines.
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

// readOne reads a value and takes it into memory. What nobody has refreshed for
// long is removed.
func (s *Store) readOne(ctx context.Context, k key, found *summary) {
	size, modified, err := s.stat(ctx, k)
	if err != nil {
		s.failedRead(k, err, found)
		return
	}
	s.readStated(ctx, k, size, modified, found)
}

// readStated is readOne for a value whose size and time are known.
func (s *Store) readStated(ctx context.Context, k key, size int64, modified time.Time, found *summary) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	s.peers.heard(k.instance, modified)
	// What cannot be read tells no time of its own.
	v := value{key: k, own: k.instance == s.instance, modified: modified, old: s.isOld(modified)}
	kind := s.kindOf(k)
	switch {
	case kind == nil:
		if v.old {
			s.remove(ctx, k, found)
		}
		return
	case size > kind.max():
		s.quarantine(ctx, v, fmt.Errorf("%d bytes are more than it can have", size), found)
		return
	}
	var err error
	if v.data, err = s.storage.Load(ctx, k.String()); err != nil {
		s.failedRead(k, err, found)
		return
	}
	if objects, _ := jsontext.Nesting(v.data); k.kind != kindLedger && objects > maxObjects {
		s.quarantine(ctx, v, fmt.Errorf("%d objects are more than it can have", objects), found)
		return
	}
	s.take(ctx, kind, v, found)
}

// take takes a value into memory, or sees to it that it is not in the way.
func (s *Store) take(ctx context.Context, kind kind, v value, found *summary) {
	switch err := kind.take(v, found); {
	case err == nil:
		s.peers.saw(v.key, v.modified)
		s.observer.ValueRead(v.key.kind, readGood)
	case errors.Is(err, errIncomplete):
		s.observer.ValueRead(v.key.kind, readGood)
	case errors.Is(err, errExpired):
		s.remove(ctx, v.key, found)
	case isOutdated(err):
		s.peers.saw(v.key, v.modified)
		s.dropOutdated(ctx, v, found)
	default:
		s.quarantine(ctx, v, err, found)
	}
}

// isOld reports whether nobody has refreshed a value for long. Not every storage
// knows when that was.
func (s *Store) isOld(modified time.Time) bool {
	return !modified.IsZero() && s.isExpired(modified)
}

// isExpired is isOld for a time that is known.
func (s *Store) isExpired(saved time.Time) bool { return s.now().Sub(saved) >= maxUnrefreshed }
