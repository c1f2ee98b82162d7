package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Parts are the stored parts of a process's memory.
type Parts struct {
	Policies     *policy.Cache   // the robots.txt files of sites
	Bases        *policy.Cache   // bases of composed robots.txt files
	Copies       *copies.History // files that crawlers may still use
	Changes      Changes         // delayed changes and visits of search engines
	AddressLists AddressLists    // addresses of crawlers
	Ledger       *ledger.Ledger  // counts of requests

	Acknowledgements Note  // of alerts
	SentAlerts       Note  // alerts that receivers were sent
	Rates            Rates // recent requests by crawler
}

// Changes has the delayed changes of robots.txt files and the visits of search engines at named
// sites.
type Changes interface {
	// ConfiguredSites returns the sites with a delayed change or a visit.
	ConfiguredSites() []policy.Key
	// Revisions returns two counters. changeRevision grows with the delayed changes, which are
	// stored immediately. visitRevision grows with the visits.
	Revisions(site policy.Key) (changeRevision, visitRevision uint64)
	// Snapshot returns the content to store for a site. ok is false without content.
	Snapshot(site policy.Key) (stored ledger.ChangeGuardState, ok bool)
	// Restore restores stored content of this or another instance. delayed is the number of changes
	// that are delayed again. complete is false if the content refers to an unknown version. state
	// is the policy of the site, or nil.
	Restore(stored ledger.ChangeGuardState, state *policy.State, fromPeer bool) (delayed int, complete bool)
}

// AddressLists are the fetched address lists of crawlers.
type AddressLists interface {
	// FetchCount returns the number of fetches. Lists that were never fetched are not stored.
	FetchCount() uint64
	// Export encodes all lists for Import.
	Export() ([]byte, error)
	// Import replaces lists with newer ones from data.
	Import(data []byte) error
}

// Note is a part stored as one value.
type Note interface {
	// Revision returns the number of changes. An unchanged part is not stored.
	Revision() uint64
	// Export encodes the part for Import.
	Export() ([]byte, error)
	// Import adds data of Export from before a restart or from another instance.
	Import(data []byte) error
}

// Rates are the recent requests by crawler.
type Rates interface {
	// SetSharing sets whether rates are shared with other instances.
	SetSharing(now time.Time, hasPeers bool)
	// Export encodes the counts of this instance for Import. The result is nil without counts.
	Export(now time.Time) ([]byte, error)
	// Import adds the counts of another instance.
	Import(instance string, data []byte, now time.Time) error
}

// Memory is the stored state of a process. A Memory outlives its stores, because two stores overlap
// during a reload. A nil Memory belongs to a process without storage.
type Memory struct {
	parts Parts
	// A write to the storage locks writeMu or ledgerWriteMu, so the last write has the latest
	// state. The ledger has its own mutex and does not delay other kinds.
	writeMu, ledgerWriteMu sync.Mutex

	isFirstReadPending atomic.Bool
	restoredChan       atomic.Pointer[<-chan struct{}] // nil without storage

	ownLedgerRead struct {
		sync.Mutex
		done bool
	}
	peerLedger atomic.Pointer[ledger.Ledger]

	runningStores atomic.Int32 // running stores, except those with [Options.OnlyBases]
	writeFailures writeFailures
}

// writeFailures has the kinds of values with failed writes. The zero value is empty.
type writeFailures struct {
	mu     sync.Mutex
	byKind map[string]writeFailure // by kind
}

type writeFailure struct {
	since time.Time
	err   error // the latest
}

// record records the result of an attempt to write a value. changed is true for the first failure,
// and for the success of the last failing kind.
func (t *writeFailures) record(kind string, now time.Time, err error) (changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wasFailing := len(t.byKind) > 0
	if err == nil {
		delete(t.byKind, kind)
		return wasFailing && len(t.byKind) == 0
	}
	if t.byKind == nil {
		t.byKind = make(map[string]writeFailure)
	}
	failure, ok := t.byKind[kind]
	if !ok {
		failure.since = now
	}
	failure.err = err
	t.byKind[kind] = failure
	return !wasFailing
}

// WriteFailure returns the start and the error of a continuing write failure. since is the zero
// time without a failure or a running store.
func (m *Memory) WriteFailure() (since time.Time, err error) {
	if !m.HasRunningStore() {
		return time.Time{}, nil
	}
	m.writeFailures.mu.Lock()
	defer m.writeFailures.mu.Unlock()
	for _, failure := range m.writeFailures.byKind {
		if err == nil || failure.since.Before(since) {
			since, err = failure.since, failure.err
		}
	}
	return since, err
}

// dropPeerState drops the counts of other instances if no store runs. Nothing would update them.
func (m *Memory) dropPeerState(now time.Time) {
	if m.HasRunningStore() {
		return
	}
	m.peerLedger.Store(nil)
	m.parts.Rates.SetSharing(now, false)
}

// HasRunningStore reports whether a store runs.
func (m *Memory) HasRunningStore() bool { return m != nil && m.runningStores.Load() > 0 }

// writeMutex returns the lock for writes of a kind.
func (m *Memory) writeMutex(kind string) *sync.Mutex {
	if kind == kindLedger {
		return &m.ledgerWriteMu
	}
	return &m.writeMu
}

// NewMemory returns a memory of the parts. All parts are required.
func NewMemory(parts Parts) *Memory {
	return &Memory{parts: parts}
}

// AnnounceStore announces a store that may begin later. Requests wait until restored is called or ctx ends,
// unless another store has already read its values.
func (m *Memory) AnnounceStore(ctx context.Context) (restored func()) {
	readCtx, restored := context.WithCancel(ctx)
	if done := readCtx.Done(); !m.HasRunningStore() || !isClosed(m.Restored()) {
		m.restoredChan.Store(&done)
	}
	return restored
}

// isClosed reports whether a channel is closed or nil.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return c == nil
	}
}

// Restored returns a channel that is closed after the first read of a store. The channel is nil
// without a store.
func (m *Memory) Restored() <-chan struct{} {
	if m == nil {
		return nil
	}
	if restored := m.restoredChan.Load(); restored != nil {
		return *restored
	}
	return nil
}

// IsFirstReadPending reports whether the process has not yet read all stored values.
func (m *Memory) IsFirstReadPending() bool { return m != nil && m.isFirstReadPending.Load() }

// PeerLedger returns the ledger of the other instances, or nil.
func (m *Memory) PeerLedger() *ledger.Ledger {
	if m == nil {
		return nil
	}
	return m.peerLedger.Load()
}
