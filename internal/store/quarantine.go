package store

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"
)

// quarantine moves an invalid value of this instance to the quarantine directory. An invalid value
// of another instance, or one that is too large to be read, stays until it expires. quarantine
// removes an expired value.
func (s *Store) quarantine(ctx context.Context, v value, reason error, summary *readSummary) {
	if v.isExpired {
		s.remove(ctx, v.key, summary)
		return
	}
	if v.isOwn && v.data != nil {
		if err := s.storage.Store(ctx, v.key.quarantineKey().String(), v.data); err == nil {
			_ = s.storage.Delete(ctx, v.key.String()) // After an error, the next read tries again.
		}
	}
	s.observer.ValueRead(v.key.kind, resultSetAside)
	if s.invalidValues.add(v.key, v.modified) {
		summary.countInvalid(v.key, reason)
	}
}

// remove removes an expired value from the storage.
func (s *Store) remove(ctx context.Context, k key, summary *readSummary) {
	if err := s.storage.Delete(ctx, k.String()); err != nil {
		s.recordReadFailure(k, err, summary)
		return
	}
	s.observer.ValueRead(k.kind, resultExpired)
	summary.countRemoved()
}

// recordReadFailure records that a value cannot be read. recordReadFailure ignores a missing value,
// because another instance may have removed the value.
func (s *Store) recordReadFailure(k key, err error, summary *readSummary) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.observer.ValueRead(k.kind, resultFailed)
	summary.recordFailure(err)
}

// maxInvalidValues is the maximum number of invalid values that are recorded, so that each is
// logged once.
const maxInvalidValues = 1024

// invalidValues records which invalid values were logged, so that each is logged once. The zero
// value has none.
type invalidValues struct {
	mu       sync.Mutex
	modified map[key]time.Time
}

// add records an invalid value. add reports whether the value with this modification time is new.
func (u *invalidValues) add(k key, modified time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if previous, ok := u.modified[k]; ok && previous.Equal(modified) {
		return false
	}
	if u.modified == nil || len(u.modified) >= maxInvalidValues {
		u.modified = make(map[key]time.Time)
	}
	u.modified[k] = modified
	return true
}
