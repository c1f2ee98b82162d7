package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

const (
	writeInterval  = 2 * time.Second  // writeInterval is the time between two checks for unsaved changes.
	syncInterval   = 15 * time.Second // syncInterval is the time between two reads of the values of peers.
	ledgerInterval = 5 * time.Minute  // ledgerInterval is the time between two reads of the ledgers.
	readInterval   = 24 * time.Hour   // readInterval is the time between two reads of all values.
	// readRetryDelay is the time until the read after a failure. It doubles with each failure.
	readRetryDelay = time.Minute
	maxValueAge    = 31 * 24 * time.Hour // maxValueAge is the age at which the values of any instance are removed.

	maxStartWait = 2 * time.Second // maxStartWait is the maximum wait for the first read if the memory is empty.
	flushTimeout = 5 * time.Second
)

// StopTimeout is the maximum time that a store needs to stop if the storage answers.
const StopTimeout = flushTimeout + time.Second

// Options configures [New].
type Options struct {
	Storage  Storage
	Instance string  // Instance is the unique name of this instance.
	Memory   *Memory // Memory has the stored parts of the process.
	Observer Observer
	// OnlyBases makes the store save and restore only the base files to which robots_txt adds
	// rules.
	OnlyBases bool
	Logger    *zap.Logger
	// OnRestored, if not nil, is called after the first read.
	OnRestored func()
	// IsExiting reports whether the process ends. Otherwise only a configuration ends. Nil means
	// that the process never ends.
	IsExiting func() bool
	// MaxPolicies is the maximum number of configured sites in the policy cache.
	MaxPolicies int
	// Retention is the time for which the ledger keeps data. Zero means the default.
	Retention time.Duration
	// Now returns the current time. Nil means [time.Now].
	Now func() time.Time
}

// Store saves the memory of one instance to a storage, and restores the values of all instances.
type Store struct {
	storage         Storage
	instance        string
	memory          *Memory
	observer        Observer
	logger          *zap.Logger
	now             func() time.Time
	isExiting       func() bool
	onRestored      func()
	onlyBases       bool
	maxPolicyValues int // maxPolicyValues is the maximum number of policy values to read.

	kinds        []kind // These are all kinds except the ledger.
	ledgerKind   kind
	policies     *policyValues // policies stores the robots.txt files of sites. It is nil with [Options.OnlyBases].
	bases        *policyValues
	ledgerValues *ledgerValues // ledgerValues stores the ledger. It is nil with [Options.OnlyBases].

	ownValuesRead bool // ownValuesRead is true if the values of this instance were read, so that writes are safe.
	peers         peers
	writeBackoff  writeBackoff
	invalidValues invalidValues
	// These are true after a failed read, until a read succeeds. Only the first failure is logged
	// as a warning. The ledger is read at other times than the other kinds.
	readFailed, ledgerReadFailed atomic.Bool
}

// New returns a store. [Store.Start] starts it.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnRestored == nil {
		o.OnRestored = func() {}
	}
	if o.IsExiting == nil {
		o.IsExiting = func() bool { return false }
	}
	s := &Store{
		storage: o.Storage, instance: o.Instance, memory: o.Memory, observer: o.Observer, logger: o.Logger, onlyBases: o.OnlyBases,
		now: o.Now, isExiting: o.IsExiting, onRestored: o.OnRestored, maxPolicyValues: maxPolicyValues(o.MaxPolicies),
	}
	s.kinds = s.newKinds(o.Retention)
	s.ledgerKind = kind{name: kindLedger, maxBytes: ledger.MaxStoredSiteBytes, maxPerInstance: maxLedgerSites, valueKind: s.ledgerValues}
	return s
}

// Start runs the store until ctx ends. done is closed after the last write. If wait is true, Start
// returns only after the first read, or after two seconds.
func (s *Store) Start(ctx context.Context, wait bool) (done <-chan struct{}) {
	for _, table := range s.listPolicyValues() {
		table.startedAt = s.now()
	}
	s.memory.isFirstReadPending.Store(wait)
	firstReadDone, stopped := make(chan struct{}), make(chan struct{})
	if s.policies != nil {
		s.memory.runningStores.Add(1)
	}
	var goroutines sync.WaitGroup
	goroutines.Go(func() {
		complete := s.Read(ctx)
		for _, table := range s.listPolicyValues() {
			table.endedEarly = ctx.Err() != nil
		}
		close(firstReadDone)
		s.onRestored()
		s.run(ctx, complete)
	})
	if s.ledgerValues != nil {
		goroutines.Go(func() {
			<-firstReadDone // Requests wait for the other kinds.
			s.runLedger(ctx)
		})
	}
	go func() {
		defer close(stopped)
		goroutines.Wait()
		if s.policies != nil {
			s.memory.runningStores.Add(-1)
		}
		s.memory.dropPeerState(s.now())
	}()
	if wait && !isClosedWithin(firstReadDone, maxStartWait) {
		s.logger.Info("the storage is slow; requests are judged before all stored values are read")
	}
	s.memory.isFirstReadPending.Store(false)
	return stopped
}

// run writes and reads all kinds except the ledger at their intervals, until ctx ends. complete
// tells whether all reads of the first read succeeded.
func (s *Store) run(ctx context.Context, complete bool) {
	retryDelay := readRetryDelay
	nextReadDelay := func(complete bool) time.Duration {
		delay := retryDelay
		if retryDelay = min(2*retryDelay, readInterval); complete {
			delay, retryDelay = readInterval, readRetryDelay
		}
		return delay
	}
	writeTicker, readTimer, syncTicker := time.NewTicker(writeInterval), time.NewTimer(nextReadDelay(complete)), time.NewTicker(syncInterval)
	defer writeTicker.Stop()
	defer readTimer.Stop()
	defer syncTicker.Stop()
	for {
		select {
		case <-writeTicker.C:
			s.Write(ctx)
		case <-syncTicker.C:
			s.Sync(ctx)
		case <-readTimer.C:
			readTimer.Reset(nextReadDelay(s.Read(ctx)))
		case <-ctx.Done():
			flushCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			s.writeAll(flushCtx, true)
			return
		}
	}
}

// runLedger writes and reads the ledger at intervals, until ctx ends. It runs separately, because
// requests should not wait for the large ledger.
func (s *Store) runLedger(ctx context.Context) {
	s.ledgerValues.readLedgers(ctx)
	ticker := time.NewTicker(ledgerInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			// True ignores delays after failures, which are never longer than the interval.
			s.writeKind(ctx, &s.ledgerKind, true)
			s.ledgerValues.readLedgers(ctx)
		case <-ctx.Done():
			flushCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			s.writeKind(flushCtx, &s.ledgerKind, true)
			return
		}
	}
}

// isClosedWithin waits for a channel to be closed, and reports whether that happened within the
// timeout.
func isClosedWithin(c <-chan struct{}, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}
