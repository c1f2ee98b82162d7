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

	firstWriteRetry = 4 * time.Second
	lastWriteRetry  = 5 * time.Minute

	// renewInterval is the time after which an unchanged value is written again. Otherwise the value
	// would expire.
	renewInterval = 7 * 24 * time.Hour
)

// Write writes the due values except the ledger. [Store.Start] calls Write every two seconds.
func (s *Store) Write(ctx context.Context) { s.writeAll(ctx, false) }

// writeAll writes the due values. The last call writes every value with unsaved changes.
func (s *Store) writeAll(ctx context.Context, last bool) {
	for i := range s.kinds {
		kind := &s.kinds[i]
		if kind.after && (ctx.Err() != nil || !s.known) {
			return
		}
		if !s.write(ctx, kind, last) && kind.after {
			return
		}
	}
}

// write writes the due values of a kind. It returns false if it stopped early. The last call retries
// values that failed before.
func (s *Store) write(ctx context.Context, kind *kind, last bool) bool {
	failures := 0
	for p := range kind.due(ctx, last) {
		k := key{s.instance, kind.name, p.name}
		if !last && s.backoff.waits(k, s.now()) {
			continue
		}
		if err := s.writeOne(ctx, k, p); err == nil {
			failures = 0
		} else if failures++; failures == maxWriteFailures || ctx.Err() != nil {
			return false
		}
	}
	return true
}

// writeOne writes a value. During a reload two stores write in turn. Each writes the current state.
func (s *Store) writeOne(ctx context.Context, k key, p pending) error {
	writing := s.memory.writingOf(k.kind)
	writing.Lock()
	defer writing.Unlock()
	data, err := p.encode()
	if err == nil && data == nil { // nothing is left to store
		s.memory.troubles.note(k.kind, s.now(), nil)
		return nil
	}
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opTimeout)
		defer cancel()
		err = s.storage.Store(ctx, k.String(), data)
	}
	now := s.now()
	s.observer.ValueWritten(k.kind, now, err)
	s.memory.troubles.note(k.kind, now, err)
	if err != nil {
		s.backoff.failed(k, now)
		level := zap.WarnLevel
		if s.failing(k.kind == kindLedger).write.Swap(true) {
			level = zap.DebugLevel
		}
		s.log(level, "a value cannot be stored; the guard tries again", p.about, zap.Stringer("key", k), zap.Error(err))
		return err
	}
	s.backoff.succeeded(k)
	if s.failing(k.kind == kindLedger).write.Swap(false) {
		s.logger.Info("values can be stored again")
	}
	p.stored()
	return nil
}

// backoff postpones writes after failures. The zero value is empty.
type backoff struct {
	mu   sync.Mutex
	keys map[key]attempts
}

// attempts records consecutive failed writes.
type attempts struct {
	failures int
	retry    time.Time // earliest next attempt
}

// waits reports whether it is too early for another attempt.
func (b *backoff) waits(k key, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.keys[k].retry)
}

func (b *backoff) failed(k key, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keys == nil {
		b.keys = make(map[key]attempts)
	}
	// A value that is not due any more has an old retry time.
	maps.DeleteFunc(b.keys, func(_ key, a attempts) bool { return now.Sub(a.retry) > time.Hour })
	known := b.keys[k]
	known.retry = now.Add(min(lastWriteRetry, firstWriteRetry<<min(known.failures, 10)))
	known.failures++
	b.keys[k] = known
}

func (b *backoff) succeeded(k key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.keys, k)
}
