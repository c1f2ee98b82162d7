package store

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"
)

// quarantine keeps a value out of the way that cannot be used. A value of another
// instance is that one's affair until nobody refreshes it any more.
func (s *Store) quarantine(ctx context.Context, v value, reason error, found *summary) {
	if v.old {
		s.remove(ctx, v.key, found)
		return
	}
	if v.own && v.data != nil {
		if err := s.storage.Store(ctx, v.key.aside().String(), v.data); err == nil {
			_ = s.storage.Delete(ctx, v.key.String()) // else it is found, and set aside, again
		}
	}
	s.observer.ValueRead(v.key.kind, readSetAside)
	if s.unusable.isNew(v.key, v.modified) {
		found.quarantine(v.key, reason)
	}
}

// dropOutdated removes a value that an earlier version of this product has
// written. One of another instance stays until nobody refreshes it any more: that
// instance may run the earlier version still, and takes it for stored.
func (s *Store) dropOutdated(ctx context.Context, v value, found *summary) {
	if v.old || v.own {
		s.remove(ctx, v.key, found)
	}
}

// remove removes a value that nobody needs any more.
func (s *Store) remove(ctx context.Context, k key, found *summary) {
	if err := s.storage.Delete(ctx, k.String()); err != nil {
		s.failedRead(k, err, found)
		return
	}
	s.observer.ValueRead(k.kind, readExpired)
	found.removedOne()
}

// failedRead notes that a value could not be read. One that is gone was removed by
// another instance.
func (s *Store) failedRead(k key, err error, found *summary) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.observer.ValueRead(k.kind, readFailed)
	found.fail(err)
}

// maxUnusable is of how many values it is known that they cannot be used.
const maxUnusable = 1024

// unusable are the values that were found to be of no use, so that each of them
// is told once: those of others stay where they are. The zero value is empty.
type unusable struct {
	mu       sync.Mutex
	modified map[key]time.Time
}

// isNew reports whether that was not known of the value as it is now.
func (u *unusable) isNew(k key, modified time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known, ok := u.modified[k]; ok && known.Equal(modified) {
		return false
	}
	if u.modified == nil || len(u.modified) >= maxUnusable {
		u.modified = make(map[key]time.Time)
	}
	u.modified[k] = modified
	return true
}
