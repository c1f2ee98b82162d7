package store

import (
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// summary counts what a look at the storage has found. Several goroutines may
// write it at once.
type summary struct {
	ofLedger bool // which is read by itself

	mu       sync.Mutex
	read     int               // policies that are good
	restored map[restored]bool // those that are current now
	removed  int
	unusable int    // values
	example  string // one of them
	reason   error  // and why it is of no use
	failed   int    // values that could not be read
	failure  error  // the first reason
	held     int    // changes that are held back again
}

// restored is a site whose policy of a kind was taken in.
type restored struct {
	kind string
	site policy.Key
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

// report logs what was found.
func (s *Store) report(found *summary, left int) {
	s.reportTrouble(found)
	if left > 0 {
		s.logger.Warn("more is stored than is read; give robots_guard a higher number of policies",
			zap.Int("read", s.maxPolicies), zap.Int("left", left))
	}
	if found.held > 0 {
		s.logger.Info("change guard: changes that were held back are held back for the rest of their time", zap.Int("count", found.held))
	}
	level := zap.DebugLevel
	if len(found.restored) > 0 || found.removed > 0 {
		level = zap.InfoLevel
	}
	s.log(level, "policies restored from the storage",
		zap.Int("read", found.read), zap.Int("restored", len(found.restored)), zap.Int("removed", found.removed))
}

// reportTrouble logs what could not be read or used.
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

// levelOfTrouble is the level at which a failure to read is told, which is not told again.
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
