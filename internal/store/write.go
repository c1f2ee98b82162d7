package store

import (
	"context"
	"maps"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// maxWriteFailures in a row end an attempt to write what is pending: it is
	// the storage that fails then, and not a value that it does not take.
	maxWriteFailures = 3

	firstWriteRetry = 4 * time.Second
	lastWriteRetry  = 5 * time.Minute

	// renewInterval is after what time a value is written again that says nothing
	// new, so that it is not taken for one of the dead.
	renewInterval = 7 * 24 * time.Hour
)

// Write stores what is due but the ledger, which has a time of its own.
// [Store.Start] does it every two seconds.
func (s *Store) Write(ctx context.Context) {
	s.readWanted(ctx) // what is written must not be less than what was there
	s.writeAll(ctx, false)
}

// writeAll stores what is due, and all that is pending if it is the last time.
func (s *Store) writeAll(ctx context.Context, last bool) {
	for _, p := range s.versions() {
		s.write(ctx, p, last) // what comes of it says nothing of the rest
	}
	if ctx.Err() != nil || !s.known {
		return
	}
	for _, k := range s.notes() {
		if !s.write(ctx, k, last) {
			return
		}
	}
}

// write stores the values of a kind that are due, and reports whether it was not
// given up. At the last time it is also tried with those that have failed.
func (s *Store) write(ctx context.Context, kind kind, last bool) bool {
	failures := 0
	for p := range kind.due(ctx, last) {
		k := key{s.instance, kind.name(), p.name}
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

// writeOne stores a value. During a reload two stores do so; what one of them
// knows is never older than what the other has written.
func (s *Store) writeOne(ctx context.Context, k key, p pending) error {
	writing := s.memory.writingOf(k.kind)
	writing.Lock()
	defer writing.Unlock()
	data, err := p.encode()
	if err == nil && data == nil { // there is nothing to store any more
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
		s.log(level, "a value cannot be stored; it is tried again", p.about, zap.Stringer("key", k), zap.Error(err))
		return err
	}
	s.backoff.succeeded(k)
	if s.failing(k.kind == kindLedger).write.Swap(false) {
		s.logger.Info("values can be stored again")
	}
	p.stored()
	return nil
}

// backoff tells which values are not to be written yet, since that has failed. The
// zero value is empty.
type backoff struct {
	mu   sync.Mutex
	keys map[key]attempts
}

// attempts are those that have failed in a row.
type attempts struct {
	failures int
	retry    time.Time // when to try again
}

// waits reports whether it is too early to try again.
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
	// What is due no more is not tried again.
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
