package store

import (
	"sync"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// readSummary counts the results of reading many stored values. Its methods may be called
// concurrently.
type readSummary struct {
	failed *atomic.Bool // failed is true if the last read failed.

	mu                sync.Mutex
	validPolicies     int
	restoredSites     map[restoredSite]bool // restoredSites are the sites with a restored current version.
	removedValues     int                   // removedValues is the number of expired values.
	invalidCount      int                   // invalidCount is the number of invalid values.
	firstInvalidKey   string                // firstInvalidKey is the key of the first invalid value.
	firstInvalidError error                 // firstInvalidError is the error of the first invalid value.
	failedReads       int                   // failedReads is the number of values that could not be read.
	firstError        error                 // firstError is the first error of such a read.
	delayedChanges    int                   // delayedChanges is the number of changes that are delayed again.
}

// restoredSite identifies a site whose robots.txt was restored, and the cache.
type restoredSite struct {
	policies *policyValues
	site     policy.Key
}

func newReadSummary(failed *atomic.Bool) *readSummary {
	return &readSummary{failed: failed, restoredSites: make(map[restoredSite]bool)}
}

func (f *readSummary) countInvalid(k key, reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.invalidCount++; f.invalidCount == 1 {
		f.firstInvalidKey, f.firstInvalidError = k.String(), reason
	}
}

func (f *readSummary) countRemoved() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removedValues++
}

func (f *readSummary) countDelayed(changes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delayedChanges += changes
}

func (f *readSummary) recordFailure(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failedReads++; f.failedReads == 1 {
		f.firstError = err
	}
}

// logSummary logs the results of reading values. skipped is the number of policies that were not
// read because of the limit.
func (s *Store) logSummary(summary *readSummary, skipped int) {
	s.logReadFailures(summary)
	if skipped > 0 {
		s.logger.Warn("not all stored policies were read; raise the option policies of robots_guard",
			zap.Int("read", s.maxPolicyValues), zap.Int("left", skipped))
	}
	if summary.delayedChanges > 0 {
		s.logger.Info("change guard: delayed changes were restored from the storage; each stays delayed until its time is over", zap.Int("count", summary.delayedChanges))
	}
	level := zap.DebugLevel
	if len(summary.restoredSites) > 0 || summary.removedValues > 0 {
		level = zap.InfoLevel
	}
	s.log(level, "policies restored from the storage",
		zap.Int("read", summary.validPolicies), zap.Int("restored", len(summary.restoredSites)), zap.Int("removed", summary.removedValues))
}

// logReadFailures logs how many values were invalid and how many could not be read.
func (s *Store) logReadFailures(summary *readSummary) {
	if summary.invalidCount > 0 {
		s.logger.Warn("stored values cannot be used and are set aside",
			zap.Int("count", summary.invalidCount), zap.String("example", summary.firstInvalidKey), zap.NamedError("reason", summary.firstInvalidError))
	}
	if summary.failedReads > 0 {
		s.log(failureLevel(summary.failed), "stored values cannot be read", zap.Int("count", summary.failedReads), zap.Error(summary.firstError))
	} else if summary.failed.Swap(false) {
		s.logger.Info("stored values can be read again")
	}
}

// failureLevel records in failed that a read failed, and returns the log level for the failure: a
// warning for the first, and debug for the following ones.
func failureLevel(failed *atomic.Bool) zapcore.Level {
	if failed.Swap(true) {
		return zap.DebugLevel
	}
	return zap.WarnLevel
}

func (s *Store) log(level zapcore.Level, message string, fields ...zap.Field) {
	if c := s.logger.Check(level, message); c != nil {
		c.Write(fields...)
	}
}
