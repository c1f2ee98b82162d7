package store

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"
)

// quarantine moves an invalid value to another directory. An invalid value of another instance stays
// until it expires.
func (s *Store) quarantine(ctx context.Context, v value, reason error, found *summary) {
	if v.old {
		s.remove(ctx, v.key, found)
		return
	}
	if v.own && v.data != nil {
		if err := s.storage.Store(ctx, v.key.aside().String(), v.data); err == nil {
			_ = s.storage.Delete(ctx, v.key.String()) // after an error the next read retries
		}
	}
	s.observer.ValueRead(v.key.kind, readSetAside)
	if s.unusable.isNew(v.key, v.modified) {
		found.quarantine(v.key, reason)
	}
}

// remove removes a value.
func (s *Store) remove(ctx context.Context, k key, found *summary) {
	if err := s.storage.Delete(ctx, k.String()); err != nil {
		s.failedRead(k, err, found)
		return
	}
	s.observer.ValueRead(k.kind, readExpired)
	found.removedOne()
}

// failedRead records a value that could not be read. It ignores a missing value, because another
// instance may have removed it.
func (s *Store) failedRead(k key, err error, found *summary) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.observer.ValueRead(k.kind, readFailed)
	found.fail(err)
}

// maxUnusable is the maximum number of remembered invalid values.
const maxUnusable = 1024

// unusable remembers invalid values, so each is logged once. The zero value is empty.
type unusable struct {
	mu       sync.Mutex
	modified map[key]time.Time
}

// isNew remembers a value of this time, and reports whether it was new.
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
