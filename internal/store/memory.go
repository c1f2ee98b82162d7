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

// Parts are the parts of a process's memory that are stored.
type Parts struct {
	Policies     *policy.Cache   // Policies are the robots.txt files of sites.
	Bases        *policy.Cache   // Bases are the bases of composed robots.txt files.
	Copies       *copies.History // Copies are the files that crawlers may still use.
	Changes      Changes         // Changes are delayed changes and visits of search engines.
	AddressLists AddressLists    // AddressLists are the addresses of crawlers.
	Ledger       *ledger.Ledger  // Ledger has the counts of requests.

	Acknowledgements Note  // Acknowledgements are the acknowledged alerts.
	SentAlerts       Note  // SentAlerts are the alerts that receivers were sent.
	Rates            Rates // Rates has recent requests by crawler.
}

// Changes has the delayed changes of robots.txt files, and the visits of search engines to
// configured sites.
type Changes interface {
	// ConfiguredSites returns the sites with a delayed change or a visit.
	ConfiguredSites() []policy.Key
	// Revisions returns two counters for a site. changeRevision grows with each new state of a
	// delayed change, which is stored immediately. visitRevision grows with each visit.
	Revisions(site policy.Key) (changeRevision, visitRevision uint64)
	// Snapshot returns the state of a site to store. ok is false if there is nothing to store.
	Snapshot(site policy.Key) (stored ledger.ChangeGuardState, ok bool)
	// Restore restores the stored state of a site, which this or another instance has written.
	// delayed is the number of changes that are delayed again. complete is false if the state
	// refers to a version that is not known yet. state is the cached robots.txt of the site, or
	// nil.
	Restore(stored ledger.ChangeGuardState, state *policy.State, fromPeer bool) (delayed int, complete bool)
}

// AddressLists are the fetched lists of the addresses of crawlers.
type AddressLists interface {
	// FetchCount returns the number of fetches. Lists that were never fetched are not stored.
	FetchCount() uint64
	// ExportLists encodes all lists for ImportLists.
	ExportLists() ([]byte, error)
	// ImportLists replaces lists with newer ones from data.
	ImportLists(data []byte) error
}

// Note is a small part of the memory that is stored as a single value.
type Note interface {
	// Revision returns the number of changes since the start. A part without changes is not stored.
	Revision() uint64
	// Export encodes the part for Import.
	Export() ([]byte, error)
	// Import adds data of Export from before a restart or from another instance.
	Import(data []byte) error
}

// Rates are the numbers of recent requests by crawler, which instances share.
type Rates interface {
	// SetSharing sets whether other instances share their rates with this one.
	SetSharing(now time.Time, hasPeers bool)
	// Export encodes the counts of this instance for Import. It returns nil if there are none.
	Export(now time.Time) ([]byte, error)
	// Import replaces the counts of another instance.
	Import(instance string, data []byte, now time.Time) error
}

// Memory has the parts of a process's memory that stores save and restore. It outlives the stores,
// because two stores run at the same time during a reload. A nil Memory belongs to a process
// without storage.
type Memory struct {
	parts Parts
	// A write to the storage locks writeMu or, for the ledger, ledgerWriteMu. So the last write has
	// the latest state, and the ledger does not delay other kinds.
	writeMu, ledgerWriteMu sync.Mutex

	isFirstReadPending atomic.Bool
	restoredChan       atomic.Pointer[<-chan struct{}] // restoredChan is nil without storage.

	ownLedgerRead struct {
		sync.Mutex
		done bool
	}
	peerLedger atomic.Pointer[ledger.Ledger]

	runningStores atomic.Int32 // runningStores counts running stores, except those with [Options.OnlyBases].
	writeFailures writeFailures
}

// writeFailures records the kinds whose last write failed. The zero value has no failures.
type writeFailures struct {
	mu     sync.Mutex
	byKind map[string]writeFailure // The key is the name of the kind.
}

type writeFailure struct {
	since time.Time
	err   error // err is the latest error.
}

// record records the result of writing a value. changed is true if err is the first failure of any
// kind, or if after this success no kind fails any more.
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

// WriteFailure returns the error of writing to the storage, and the time since which writes fail.
// since is zero if no write fails, or if no store runs.
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

// dropPeerState drops the counts of other instances if no store runs, because nothing would update
// them.
func (m *Memory) dropPeerState(now time.Time) {
	if m.HasRunningStore() {
		return
	}
	m.peerLedger.Store(nil)
	m.parts.Rates.SetSharing(now, false)
}

// HasRunningStore reports whether a store runs, except stores with [Options.OnlyBases].
func (m *Memory) HasRunningStore() bool { return m != nil && m.runningStores.Load() > 0 }

// writeMutex returns the mutex to lock while writing a value of a kind.
func (m *Memory) writeMutex(kind string) *sync.Mutex {
	if kind == kindLedger {
		return &m.ledgerWriteMu
	}
	return &m.writeMu
}

// NewMemory returns a Memory with these parts. All fields of Parts are required.
func NewMemory(parts Parts) *Memory {
	return &Memory{parts: parts}
}

// AnnounceStore makes requests wait for the first read of a store that starts later. They wait
// until restored is called or ctx ends. If a running store has read its values already, requests do
// not wait.
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

// Restored returns a channel that is closed when the first read of a store has ended. The channel
// is nil if there is no store.
func (m *Memory) Restored() <-chan struct{} {
	if m == nil {
		return nil
	}
	if restored := m.restoredChan.Load(); restored != nil {
		return *restored
	}
	return nil
}

// IsFirstReadPending reports whether requests should wait because the stored values are still being
// read.
func (m *Memory) IsFirstReadPending() bool { return m != nil && m.isFirstReadPending.Load() }

// PeerLedger returns the ledger with the counts of the other instances, or nil.
func (m *Memory) PeerLedger() *ledger.Ledger {
	if m == nil {
		return nil
	}
	return m.peerLedger.Load()
}
