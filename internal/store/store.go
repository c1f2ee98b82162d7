package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	writeInterval  = 2 * time.Second     // between looks for what is to be written
	syncInterval   = 15 * time.Second    // between looks at what peers have noted
	ledgerInterval = 5 * time.Minute     // between two looks at the ledgers
	readInterval   = 24 * time.Hour      // between looks at all that is stored
	readRetry      = time.Minute         // until the next one after a failure, and then twice as long each time
	maxUnrefreshed = 31 * 24 * time.Hour // after that a value is removed, whoever wrote it

	startWait = 2 * time.Second // for what is stored, where nothing is known
	flushTime = 5 * time.Second
)

// StopWait is how long a store takes for its end, at most, if the storage answers.
const StopWait = flushTime + time.Second

// Options are what a store needs.
type Options struct {
	Storage  Storage  // where values are kept
	Instance string   // the name of this instance, another one for each
	Memory   *Memory  // what is kept
	Observer Observer // who counts; not nil
	// OnlyBases keeps the bases of composed robots.txt files, and nothing else.
	OnlyBases bool
	Logger    *zap.Logger // what the owner is told
	// Restored is called once it is known what is stored; nil for nobody.
	Restored func()
	// Exiting reports whether the process ends, and not only a configuration;
	// nil if that is never known.
	Exiting func() bool
	// Policies is for how many sites that the configuration names policies are kept.
	Policies int
	// Retention is for how long the ledger is kept, 0 for the default.
	Retention time.Duration
	// Now is the clock, nil for time.Now.
	Now func() time.Time
}

// Store keeps the values of one instance in a storage, and takes in what others
// keep there.
type Store struct {
	storage     Storage
	instance    string
	memory      *Memory
	observer    Observer
	logger      *zap.Logger
	now         func() time.Time
	exiting     func() bool
	restored    func()
	maxPolicies int // that are read

	policies *policies // nil if only bases are kept
	bases    *policies
	copies   *copiesKind
	readers  *readers
	changes  *changes
	lists    *single
	counts   *counts
	alerts   *single
	rates    *rates

	known    bool // what this instance has noted was read, so it can be replaced
	peers    peers
	backoff  backoff
	unusable unusable
	// What was told last, of the ledger and of the rest: each has a time of its own.
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
		storage: o.Storage, instance: o.Instance, memory: o.Memory, observer: o.Observer, logger: o.Logger,
		now: o.Now, exiting: o.Exiting, restored: o.Restored, maxPolicies: maxPoliciesFor(o.Policies),
	}
	s.bases = newPolicies(s, kindBases, o.Memory.parts.Bases)
	if o.OnlyBases {
		return s
	}
	s.policies = newPolicies(s, kindPolicies, o.Memory.parts.Policies)
	s.copies = &copiesKind{store: s}
	s.readers = &readers{store: s}
	s.changes = &changes{store: s}
	s.lists = newLists(s)
	s.alerts = newAlerts(s)
	s.rates = &rates{store: s}
	s.counts = &counts{store: s, retention: o.Retention}
	return s
}

// notes are the kinds of which nothing is written before it is known what this
// instance has stored: the policies say it all by themselves.
func (s *Store) notes() []kind {
	if s.policies == nil {
		return nil
	}
	return []kind{s.copies, s.readers, s.changes, s.lists, s.alerts, s.rates}
}

// synced are the kinds that peers are asked for all the time.
func (s *Store) synced() []kind { return []kind{s.copies, s.readers, s.changes, s.alerts, s.rates} }

// versions are the kinds of which each value says it all by itself.
func (s *Store) versions() []*policies {
	if s.policies == nil {
		return []*policies{s.bases}
	}
	return []*policies{s.policies, s.bases}
}

// kinds are those that are kept, but the ledger.
func (s *Store) kinds() (all []kind) {
	for _, p := range s.versions() {
		all = append(all, p)
	}
	return append(all, s.notes()...)
}

// kindOf returns the kind of a key, nil for what is set aside.
func (s *Store) kindOf(k key) kind {
	for _, kind := range s.kinds() {
		if kind.name() == k.kind {
			return kind
		}
	}
	if k.kind == kindLedger && s.counts != nil {
		return s.counts
	}
	return nil
}

// Start begins to keep what is known until ctx ends; the channel is closed when
// what was pending then is written. It waits a little for what is stored if wait
// is set.
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
			<-ready // what requests wait for comes first
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
		s.logger.Info("the storage takes its time; requests are judged before all of it is read")
	}
	s.memory.cold.Store(false)
	return finished
}

// run keeps everything but the ledger. whole says whether all could be read before.
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
		case site := <-s.wanted():
			s.readSite(ctx, s.policies, site)
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

// runLedger keeps the ledger, which is large and for which no request waits.
func (s *Store) runLedger(ctx context.Context) {
	s.counts.read(ctx)
	ticker := time.NewTicker(ledgerInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.write(ctx, s.counts, true) // after such a time all can be tried again
			s.counts.read(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
			defer cancel()
			s.write(last, s.counts, true)
			return
		}
	}
}

// closedWithin reports whether a channel was closed within a time.
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

// trouble says whether the last attempts to read and to write have failed, so that the next
// failure is no news.
type trouble struct{ read, write atomic.Bool }

// failing returns the trouble of the ledger or of the rest.
func (s *Store) failing(ofLedger bool) *trouble {
	if ofLedger {
		return &s.ledgerTrouble
	}
	return &s.trouble
}
