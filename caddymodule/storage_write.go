package caddymodule

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// maxWriteFailures in a row end an attempt to write what is pending: it is
	// the storage that fails then, and not a value that it does not take.
	maxWriteFailures = 3

	firstWriteRetry = 4 * time.Second
	lastWriteRetry  = 5 * time.Minute
)

// write stores what is known and not stored yet: versions that are new, and
// those that were seen again as long after what is stored as renew says.
func (s *store) write(ctx context.Context, renew time.Duration) {
	s.forget()
	failures := 0
	for _, e := range s.storable(ctx) {
		standing := e.Standing()
		if !s.pending(e.Key(), standing, renew) {
			continue
		}
		if s.stored[e.Key()].forgotten(standing) {
			s.adopt(ctx, e.Key())
		}
		if err := s.writeOne(ctx, e); err == nil {
			failures = 0
		} else if failures++; failures == maxWriteFailures || ctx.Err() != nil {
			return
		}
	}
}

// pending reports whether a policy should be stored now.
func (s *store) pending(key policy.Key, standing *policy.Standing, renew time.Duration) bool {
	known, good := s.stored[key], standing.Good
	switch {
	case s.short && good.FirstRead.Before(s.began):
		return false // the configuration before has stored it, the next one will look
	case s.now().Before(known.retry):
		return false
	case known.hash != good.Hash, known.status != good.Status, known.forgotten(standing):
		return true
	}
	return good.LastRead.Sub(known.lastRead) >= renew
}

// writeOne stores the policy of an entry. During a reload two configurations
// do so; what one of them knows is never older than what the other has written.
func (s *store) writeOne(ctx context.Context, e *policy.Entry) error {
	s.state.writing.Lock()
	defer s.state.writing.Unlock()
	key, standing := e.Key(), e.Standing()
	good := standing.Good
	known := s.stored[key]
	data, err := policy.Snapshot{Key: key, Standing: *standing, Saved: s.now()}.Encode()
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opTimeout)
		defer cancel()
		err = s.storage.Store(ctx, storageKeyOf(s.instance, key).String(), data)
	}
	sharedMetrics().storageWritten(dirPolicies, s.now(), err)
	if err != nil {
		known.retry = s.now().Add(min(lastWriteRetry, firstWriteRetry<<min(known.failures, 10)))
		known.failures++
		s.stored[key] = known
		s.failed(storageKeyOf(s.instance, key), err, zap.Stringer("site", key))
		return err
	}
	s.succeeded()
	s.stored[key] = storedPolicy{hash: good.Hash, status: good.Status, lastRead: good.LastRead}
	return nil
}

// failed logs that a value could not be stored, for the first of them only.
func (s *store) failed(key storageKey, err error, more ...zap.Field) {
	level := zap.DebugLevel
	if !s.failing {
		s.failing, level = true, zap.WarnLevel
	}
	if c := s.logger.Check(level, "a value cannot be stored; it is tried again"); c != nil {
		c.Write(append(more, zap.Stringer("key", key), zap.Error(err))...)
	}
}

// succeeded logs that it works again.
func (s *store) succeeded() {
	if s.failing {
		s.failing = false
		s.logger.Info("values can be stored again")
	}
}

// forget drops what is known to be stored of sites that have left the cache.
func (s *store) forget() {
	if len(s.stored) <= 2*s.state.cache.Stats(policy.Named).Entries+100 {
		return
	}
	for key := range s.stored {
		if s.state.cache.Get(key) == nil {
			delete(s.stored, key)
		}
	}
}
