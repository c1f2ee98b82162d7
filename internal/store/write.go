package store

import (
	"context"
	"maps"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// maxWriteFailures is the number of consecutive failures after which a write round stops. The
	// storage itself probably fails then.
	maxWriteFailures = 3

	minWriteRetryDelay = 4 * time.Second
	maxWriteRetryDelay = 5 * time.Minute

	// renewInterval is the time after which an unchanged value is written again. Otherwise the value
	// would expire.
	renewInterval = 7 * 24 * time.Hour
)

// Write writes all values with unsaved changes whose minimum interval has passed, except the
// ledger. [Store.Start] calls Write every two seconds.
func (s *Store) Write(ctx context.Context) { s.writeAll(ctx, false) }

// writeAll does the work of Write. last means that the configuration ends, so it ignores minimum
// intervals and delays after failures.
func (s *Store) writeAll(ctx context.Context, last bool) {
	for i := range s.kinds {
		kind := &s.kinds[i]
		if kind.needsReadFirst && (ctx.Err() != nil || !s.ownValuesRead) {
			return
		}
		if !s.writeKind(ctx, kind, last) && kind.needsReadFirst {
			return
		}
	}
}

// writeKind writes the pending values of a kind. writeKind returns false if it stopped early, after
// maxWriteFailures consecutive failures or the end of ctx. last makes it retry failed writes at
// once.
func (s *Store) writeKind(ctx context.Context, kind *kind, last bool) bool {
	failures := 0
	for pending := range kind.pendingWrites(last) {
		k := key{s.instance, kind.name, pending.name}
		if !last && s.writeBackoff.isWaiting(k, s.now()) {
			continue
		}
		if err := s.writeValue(ctx, k, pending); err == nil {
			failures = 0
		} else if failures++; failures == maxWriteFailures || ctx.Err() != nil {
			return false
		}
	}
	return true
}

// writeValue writes a value. It encodes the current state while no other store writes, because two
// stores run at the same time during a reload.
func (s *Store) writeValue(ctx context.Context, k key, pending pendingWrite) error {
	writeMu := s.memory.writeMutex(k.kind)
	writeMu.Lock()
	defer writeMu.Unlock()
	data, err := pending.encode()
	if err == nil && data == nil { // Nothing is left to store.
		s.memory.writeFailures.record(k.kind, s.now(), nil)
		return nil
	}
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, operationTimeout)
		defer cancel()
		err = s.storage.Store(ctx, k.String(), data)
	}
	now := s.now()
	s.observer.ValueWritten(k.kind, now, err)
	changed := s.memory.writeFailures.record(k.kind, now, err)
	if err != nil {
		s.writeBackoff.recordFailure(k, now)
		level := zap.DebugLevel
		if changed {
			level = zap.WarnLevel
		}
		s.log(level, "a value cannot be stored; the guard tries again", pending.logField, zap.Stringer("key", k), zap.Error(err))
		return err
	}
	s.writeBackoff.recordSuccess(k)
	if changed {
		s.logger.Info("values can be stored again")
	}
	pending.onStored()
	return nil
}

// writeBackoff delays the writes of values after failures. The zero value delays nothing.
type writeBackoff struct {
	mu   sync.Mutex
	keys map[key]failedWrites
}

// failedWrites has the number of consecutive failed writes of a value.
type failedWrites struct {
	failures int
	retryAt  time.Time // earliest next attempt
}

// isWaiting reports whether the write of a value must be delayed further.
func (b *writeBackoff) isWaiting(k key, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.keys[k].retryAt)
}

func (b *writeBackoff) recordFailure(k key, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keys == nil {
		b.keys = make(map[key]failedWrites)
	}
	// A value that is not due any more has an old retry time.
	maps.DeleteFunc(b.keys, func(_ key, a failedWrites) bool { return now.Sub(a.retryAt) > time.Hour })
	previous := b.keys[k]
	previous.retryAt = now.Add(min(maxWriteRetryDelay, minWriteRetryDelay<<min(previous.failures, 10)))
	previous.failures++
	b.keys[k] = previous
}

func (b *writeBackoff) recordSuccess(k key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.keys, k)
}
