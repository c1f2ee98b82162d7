package store

import (
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// summary counts the results of a look at the storage. Its methods may be called concurrently.
type summary struct {
	ofLedger bool // the look is at the ledger

	mu       sync.Mutex
	read     int               // valid policies
	restored map[restored]bool // sites with a restored current version
	removed  int               // expired values
	unusable int               // invalid values
	example  string            // key of the first invalid value
	reason   error             // error of the first invalid value
	failed   int               // values that could not be read
	failure  error             // the first error
	held     int               // changes that are delayed again
}

// restored is a site whose policy was restored into a cache.
type restored struct {
	policies *policies
	site     policy.Key
}

func newSummary() *summary { return &summary{restored: make(map[restored]bool)} }

func (f *summary) quarantine(k key, reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unusable++; f.unusable == 1 {
		f.example, f.reason = k.String(), reason
	}
}

func (f *summary) removedOne() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removed++
}

func (f *summary) heldAgain(changes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held += changes
}

func (f *summary) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed++; f.failed == 1 {
		f.failure = err
	}
}

// report logs a summary. left is the number of unread policies.
func (s *Store) report(found *summary, left int) {
	s.reportTrouble(found)
	if left > 0 {
		s.logger.Warn("not all stored policies were read; raise the option policies of robots_guard",
			zap.Int("read", s.maxPolicies), zap.Int("left", left))
	}
	if found.held > 0 {
		s.logger.Info("change guard: changes are held back for the rest of their time", zap.Int("count", found.held))
	}
	level := zap.DebugLevel
	if len(found.restored) > 0 || found.removed > 0 {
		level = zap.InfoLevel
	}
	s.log(level, "policies restored from the storage",
		zap.Int("read", found.read), zap.Int("restored", len(found.restored)), zap.Int("removed", found.removed))
}

// reportTrouble logs invalid values and failed reads.
func (s *Store) reportTrouble(found *summary) {
	if found.unusable > 0 {
		s.logger.Warn("stored values cannot be used and are set aside",
			zap.Int("count", found.unusable), zap.String("example", found.example), zap.NamedError("reason", found.reason))
	}
	if found.failed > 0 {
		s.log(s.levelOfTrouble(found.ofLedger), "stored values cannot be read", zap.Int("count", found.failed), zap.Error(found.failure))
	} else if s.failing(found.ofLedger).read.Swap(false) {
		s.logger.Info("stored values can be read again")
	}
}

// levelOfTrouble returns the log level of a failed read. The first failure is a warning. Later
// failures have level debug.
func (s *Store) levelOfTrouble(ofLedger bool) zapcore.Level {
	if s.failing(ofLedger).read.Swap(true) {
		return zap.DebugLevel
	}
	return zap.WarnLevel
}

func (s *Store) log(level zapcore.Level, message string, fields ...zap.Field) {
	if c := s.logger.Check(level, message); c != nil {
		c.Write(fields...)
	}
}
