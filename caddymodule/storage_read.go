package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// storageReaders is how many values are read at the same time: storages may be far.
const storageReaders = 8

// survey counts what a look at the storage has found.
type survey struct {
	mu       sync.Mutex
	read     int                 // values that are good
	restored map[policy.Key]bool // sites whose current version is one of these
	removed  int
	setAside int
	example  string // a key that was set aside
	reason   error  // and why
	failed   int    // values that could not be read
	failure  error  // the first reason
	held     int    // changes that are held back again
}

// read takes what all instances have stored into the cache, and removes what
// nobody has refreshed for long.
func (s *store) read(ctx context.Context) {
	keys, left, err := s.list(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.logger.Warn("the storage cannot be listed; no policies are restored from it", zap.Error(err))
		}
		return
	}
	found := &survey{restored: make(map[policy.Key]bool)}
	// What is held back is a version, so the policies come first.
	policies, notes := s.divide(keys)
	s.readAll(ctx, policies, found)
	failed := found.failed
	s.readAll(ctx, notes, found)
	if ctx.Err() == nil {
		s.notes.known = s.notes.known || found.failed == failed
		s.report(found, left)
	}
}

// divide tells the policies, with what was set aside, from the rest, and notes
// which instances there are.
func (s *store) divide(keys []storageKey) (policies, notes []storageKey) {
	gone := maps.Clone(s.notes.siblings)
	defer func() {
		for instance := range gone {
			delete(s.notes.siblings, instance)
		}
	}()
	for _, key := range keys {
		if key.instance != s.instance && key.dir != dirSetAside {
			s.notes.sibling(key.instance)
			delete(gone, key.instance)
		}
		switch key.dir {
		case dirReaders, dirChanges, dirLists:
			notes = append(notes, key)
		default:
			policies = append(policies, key)
		}
	}
	return policies, notes
}

// readAll takes values into memory.
func (s *store) readAll(ctx context.Context, keys []storageKey, found *survey) {
	queue := make(chan storageKey)
	var readers sync.WaitGroup
	for range storageReaders {
		readers.Go(func() {
			for key := range queue {
				s.readOne(ctx, key, found)
			}
		})
	}
	for _, key := range keys {
		if ctx.Err() != nil {
			break
		}
		queue <- key
	}
	close(queue)
	readers.Wait()
}

// list returns the keys that are to be read, those of this instance first, and
// how many were left out.
func (s *store) list(ctx context.Context) (keys []storageKey, left int, err error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	names, err := s.storage.List(ctx, storageRoot, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil // nobody has stored anything yet
	}
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		if key, ok := parseStorageKey(name); ok {
			keys = append(keys, key)
		}
	}
	slices.SortStableFunc(keys, func(a, b storageKey) int {
		switch {
		case a.instance == s.instance && b.instance != s.instance:
			return -1
		case a.instance != s.instance && b.instance == s.instance:
			return 1
		}
		return 0
	})
	if left = max(0, len(keys)-s.maxKeys); left > 0 {
		keys = keys[:s.maxKeys]
	}
	return keys, left, nil
}

// maxValue is the size of the largest value, in bytes.
const maxValue = max(policy.MaxSnapshot, ledger.MaxDocument)

// readOne reads a value and takes it into memory.
func (s *store) readOne(ctx context.Context, key storageKey, found *survey) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	size, modified, err := s.stat(ctx, key.String())
	if err != nil {
		found.fail(key, err)
		return
	}
	found.mu.Lock()
	s.notes.heard(key.instance, modified)
	found.mu.Unlock()
	// What cannot be read tells no time of its own.
	old := !modified.IsZero() && s.now().Sub(modified) >= maxUnrefreshed
	switch {
	case key.dir == dirSetAside:
		if old {
			s.remove(ctx, key, found)
		}
		return
	case size > maxValue:
		s.setAside(ctx, key, nil, fmt.Errorf("%d bytes are more than it can have", size), old, found)
		return
	}
	data, err := s.storage.Load(ctx, key.String())
	if err != nil {
		found.fail(key, err)
		return
	}
	if key.dir != dirPolicies {
		s.takeNote(ctx, key, data, modified, old, found)
		return
	}
	snapshot, err := policy.DecodeSnapshot(data)
	if err == nil && storageKeyOf(key.instance, snapshot.Key) != key {
		err = fmt.Errorf("it is about %s, which has another key", snapshot.Key)
	}
	switch {
	case errors.Is(err, policy.ErrOutdated):
		s.dropOutdated(ctx, key, old, found)
	case err != nil:
		s.setAside(ctx, key, data, err, old, found)
	case s.now().Sub(snapshot.Saved) >= maxUnrefreshed:
		s.remove(ctx, key, found)
	default:
		s.restore(key, snapshot, found)
		sharedMetrics().storageRead(key.dir, readGood)
	}
}

// restore takes a policy into the cache. A file of the same name is another one
// for each instance.
func (s *store) restore(key storageKey, snapshot policy.Snapshot, found *survey) {
	source := snapshot.Key.Source
	if source != "" && !isURL(source) && key.instance != s.instance {
		return
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	found.read++
	if s.state.cache.Restore(snapshot.Key, segmentOf(snapshot.Key), snapshot.Standing, found.restored[snapshot.Key]) {
		found.restored[snapshot.Key] = true
	}
	if key.instance == s.instance && segmentOf(snapshot.Key) == policy.Invented {
		s.unnamed[snapshot.Key] = true
	}
	good := snapshot.Standing.Good
	if good.LastRead.After(s.now()) {
		return // by a clock that was wrong; it will be replaced
	}
	if known := s.stored[snapshot.Key]; good.LastRead.After(known.lastRead) {
		s.stored[snapshot.Key] = storedPolicy{hash: good.Hash, status: good.Status, lastRead: good.LastRead}
	}
}

// setAside keeps a value out of the way that cannot be used. A value of another
// instance is that one's affair until nobody refreshes it any more.
func (s *store) setAside(ctx context.Context, key storageKey, data []byte, reason error, old bool, found *survey) {
	if old {
		s.remove(ctx, key, found)
		return
	}
	if key.instance == s.instance && data != nil {
		aside := storageKey{key.instance, dirSetAside, key.dir + "-" + key.name}
		if err := s.storage.Store(ctx, aside.String(), data); err == nil {
			_ = s.storage.Delete(ctx, key.String()) // else it is found, and set aside, again
		}
	}
	sharedMetrics().storageRead(key.dir, readSetAside)
	found.mu.Lock()
	defer found.mu.Unlock()
	if found.setAside++; found.setAside == 1 {
		found.example, found.reason = key.String(), reason
	}
}

// dropOutdated removes a value that an earlier version of this module has
// written. One of another instance stays until nobody refreshes it any more:
// that instance may run the earlier version still, and takes it for stored.
func (s *store) dropOutdated(ctx context.Context, key storageKey, old bool, found *survey) {
	if old || key.instance == s.instance {
		s.remove(ctx, key, found)
	}
}

func (s *store) remove(ctx context.Context, key storageKey, found *survey) {
	if err := s.storage.Delete(ctx, key.String()); err != nil {
		found.fail(key, err)
		return
	}
	sharedMetrics().storageRead(key.dir, readExpired)
	found.mu.Lock()
	defer found.mu.Unlock()
	found.removed++
}

// fail notes that a value could not be read. One that is gone was removed by
// another instance.
func (f *survey) fail(key storageKey, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	sharedMetrics().storageRead(key.dir, readFailed)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed++; f.failed == 1 {
		f.failure = err
	}
}

// report logs what was found.
func (s *store) report(found *survey, left int) {
	if found.setAside > 0 {
		s.logger.Warn("stored values cannot be used and are set aside",
			zap.Int("count", found.setAside), zap.String("example", found.example), zap.NamedError("reason", found.reason))
	}
	if found.failed > 0 {
		s.logger.Warn("stored values cannot be read", zap.Int("count", found.failed), zap.Error(found.failure))
	}
	if left > 0 {
		s.logger.Warn("more is stored than is read; give robots_guard a higher number of policies",
			zap.Int("read", s.maxKeys), zap.Int("left", left))
	}
	if found.held > 0 {
		s.logger.Info("change guard: changes that were held back are held back for the rest of their time", zap.Int("count", found.held))
	}
	level := zap.DebugLevel
	if len(found.restored) > 0 || found.removed > 0 {
		level = zap.InfoLevel
	}
	if c := s.logger.Check(level, "policies restored from the storage"); c != nil {
		c.Write(zap.Int("read", found.read), zap.Int("restored", len(found.restored)), zap.Int("removed", found.removed))
	}
}
