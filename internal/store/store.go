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
	writeInterval  = 2 * time.Second     // between two checks for unsaved changes
	syncInterval   = 15 * time.Second    // between two reads of the values of peers
	ledgerInterval = 5 * time.Minute     // between two reads of the ledgers
	readInterval   = 24 * time.Hour      // between two reads of all values
	readRetry      = time.Minute         // until the read after a failure, doubled each time
	maxUnrefreshed = 31 * 24 * time.Hour // age at which the values of any instance are removed

	startWait = 2 * time.Second // maximum wait for the first read, if the memory is empty
	flushTime = 5 * time.Second
)

// StopWait is the maximum time that a store needs to stop if the storage answers.
const StopWait = flushTime + time.Second

// Options configures a store.
type Options struct {
	Storage  Storage
	Instance string  // the unique name of this instance
	Memory   *Memory // the stored parts of the process
	Observer Observer
	// OnlyBases limits the store to the bases of composed robots.txt files.
	OnlyBases bool
	Logger    *zap.Logger
	// Restored is called after the first read. It may be nil.
	Restored func()
	// Exiting reports whether the process ends, and not only a configuration. Nil means never.
	Exiting func() bool
	// Policies is the maximum number of named sites in the policy cache.
	Policies int
	// Retention is the maximum age of ledger counts. Zero means the default.
	Retention time.Duration
	// Now returns the current time. Nil means [time.Now].
	Now func() time.Time
}

// Store writes the values of one instance to a storage, and reads those of all instances.
type Store struct {
	storage     Storage
	instance    string
	memory      *Memory
	observer    Observer
	logger      *zap.Logger
	now         func() time.Time
	exiting     func() bool
	restored    func()
	onlyBases   bool
	maxPolicies int // maximum number of policy values to read

	kinds    []kind // except the ledger
	ledger   kind
	policies *policies // nil with onlyBases
	bases    *policies
	counts   *counts // nil with onlyBases

	known    bool // the values of this instance were read, so writes are safe
	peers    peers
	backoff  backoff
	unusable unusable
	// The ledger and the other kinds are written at different times.
	ledgerTrouble, trouble trouble
}

// New returns a store that is not started.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Restored == nil {
		o.Restored = func() {}
	}
	if o.Exiting == nil {
		o.Exiting = func() bool { return false }
	}
	s := &Store{
		storage: o.Storage, instance: o.Instance, memory: o.Memory, observer: o.Observer, logger: o.Logger, onlyBases: o.OnlyBases,
		now: o.Now, exiting: o.Exiting, restored: o.Restored, maxPolicies: maxPoliciesFor(o.Policies),
	}
	s.kinds = s.table(o.Retention)
	s.ledger = kind{name: kindLedger, max: ledger.MaxStored, most: maxLedgerSites, values: s.counts}
	return s
}

// Start runs the store until ctx ends. done is closed after the last write. If wait is set, Start
// waits at most two seconds for the first read.
func (s *Store) Start(ctx context.Context, wait bool) (done <-chan struct{}) {
	for _, p := range s.versions() {
		p.began = s.now()
	}
	s.memory.begins()
	s.memory.cold.Store(wait)
	ready, finished := make(chan struct{}), make(chan struct{})
	if s.policies != nil {
		s.memory.stores.Add(1)
	}
	var running sync.WaitGroup
	running.Go(func() {
		whole := s.Read(ctx)
		for _, p := range s.versions() {
			p.short = ctx.Err() != nil
		}
		close(ready)
		s.restored()
		s.run(ctx, whole)
	})
	if s.counts != nil {
		running.Go(func() {
			<-ready // requests wait for the other kinds
			s.runLedger(ctx)
		})
	}
	go func() {
		defer close(finished)
		running.Wait()
		if s.policies != nil {
			s.memory.stores.Add(-1)
		}
		s.memory.forgetOthers(s.now())
	}()
	if wait && !closedWithin(ready, startWait) {
		s.logger.Info("the storage is slow; requests are judged before all stored values are read")
	}
	s.memory.cold.Store(false)
	return finished
}

// run reads and writes all kinds except the ledger. whole reports whether the first read was
// complete.
func (s *Store) run(ctx context.Context, whole bool) {
	retry := readRetry
	untilRead := func(whole bool) time.Duration {
		wait := retry
		if retry = min(2*retry, readInterval); whole {
			wait, retry = readInterval, readRetry
		}
		return wait
	}
	write, read, peers := time.NewTicker(writeInterval), time.NewTimer(untilRead(whole)), time.NewTicker(syncInterval)
	defer write.Stop()
	defer read.Stop()
	defer peers.Stop()
	for {
		select {
		case <-write.C:
			s.Write(ctx)
		case <-peers.C:
			s.Sync(ctx)
		case <-read.C:
			read.Reset(untilRead(s.Read(ctx)))
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
			defer cancel()
			s.writeAll(last, true)
			return
		}
	}
}

// runLedger reads and writes the ledger. The ledger is large, and requests do not wait for it.
func (s *Store) runLedger(ctx context.Context) {
	s.counts.read(ctx)
	ticker := time.NewTicker(ledgerInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.write(ctx, &s.ledger, true) // the interval is longer than any backoff
			s.counts.read(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
			defer cancel()
			s.write(last, &s.ledger, true)
			return
		}
	}
}

// closedWithin reports whether a channel is closed within a time.
func closedWithin(c <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

// trouble records whether the last read and the last write failed, so that each failure is logged
// once.
type trouble struct{ read, write atomic.Bool }

// failing returns the trouble of the ledger, or of the other kinds.
func (s *Store) failing(ofLedger bool) *trouble {
	if ofLedger {
		return &s.ledgerTrouble
	}
	return &s.trouble
}
