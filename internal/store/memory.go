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

// Parts are the stored parts of the memory of a process.
type Parts struct {
	Policies *policy.Cache   // the robots.txt files of sites
	Bases    *policy.Cache   // robots.txt files from which others are composed
	Copies   *copies.Book    // files that crawlers may still use
	Readers  *ledger.Readers // robots fetches of crawlers
	Changes  Changes         // held changes and visits of search engines
	Lists    Lists           // addresses of crawlers
	Ledger   *ledger.Ledger  // counts of requests

	Acknowledgements Acknowledgements // of alerts
	Rates            Rates            // recent requests by crawler
}

// Changes has the held changes of robots.txt files, and the visits of search engines, at named
// sites.
type Changes interface {
	// Sites returns the sites with a held change or a visit.
	Sites() []policy.Key
	// Revision returns two numbers that grow with the held changes, which are stored at once, and
	// with the visits.
	Revision(site policy.Key) (holds, visits uint64)
	// Snapshot returns the content to store for a site. ok is false if there is none.
	Snapshot(site policy.Key) (kept ledger.Changes, ok bool)
	// Restore restores stored content of this or another instance, and returns how many changes
	// are held back again. complete is false if the content refers to an unknown version. state is
	// the policy of the site, nil if unknown.
	Restore(kept ledger.Changes, state *policy.State, elsewhere bool) (held int, complete bool)
}

// Lists are the fetched lists of crawlers' addresses.
type Lists interface {
	// Fetched returns the number of fetches. Lists that were never fetched are not stored.
	Fetched() uint64
	// Export encodes all lists for Import.
	Export() ([]byte, error)
	// Import takes over the lists that are newer than the present ones.
	Import(data []byte) error
}

// Acknowledgements are the alerts that the owner has acknowledged.
type Acknowledgements interface {
	// Revision returns the number of changes. Unchanged acknowledgements are not stored.
	Revision() uint64
	// Export encodes the acknowledgements for Import.
	Export() ([]byte, error)
	// Import takes over the acknowledgements that are later than the present ones.
	Import(data []byte) error
}

// Rates are the recent requests by crawler.
type Rates interface {
	// Share sets whether rates are shared with other instances.
	Share(now time.Time, others bool)
	// Export encodes the counts of this instance for Import; nil if there are none.
	Export(now time.Time) ([]byte, error)
	// Import takes in the counts of another instance.
	Import(instance string, data []byte, now time.Time) error
}

// Memory is the stored state of a process. It outlives its stores: during a reload two stores run
// for a moment. A nil Memory is the memory of a process that stores nothing.
type Memory struct {
	parts Parts
	// A write to the storage locks one of these, so that the last write has the latest state. The
	// ledger does not delay other kinds.
	writing, writingLedger sync.Mutex

	cold     atomic.Bool
	restored atomic.Pointer[<-chan struct{}] // nil without a storage
	next     atomic.Pointer[<-chan struct{}] // the same for the store that takes over next

	ledgerRead struct {
		sync.Mutex
		done bool
	}
	others atomic.Pointer[ledger.Ledger]

	stores   atomic.Int32 // running stores, except those with [Options.OnlyBases]
	troubles troubles
}

// troubles are the kinds of values that cannot be written. The zero value has none.
type troubles struct {
	mu  sync.Mutex
	all map[string]writeTrouble // by kind
}

type writeTrouble struct {
	since time.Time
	err   error // the latest
}

// note records an attempt to write a value.
func (t *troubles) note(kind string, now time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		delete(t.all, kind)
		return
	}
	if t.all == nil {
		t.all = make(map[string]writeTrouble)
	}
	known, ok := t.all[kind]
	if !ok {
		known.since = now
	}
	known.err = err
	t.all[kind] = known
}

// Trouble returns the time since which some kind of value cannot be written, and the error. It
// returns the zero time if all kinds can be written, or if no store runs.
func (m *Memory) Trouble() (since time.Time, err error) {
	if !m.Stores() {
		return time.Time{}, nil
	}
	m.troubles.mu.Lock()
	defer m.troubles.mu.Unlock()
	for _, known := range m.troubles.all {
		if err == nil || known.since.Before(since) {
			since, err = known.since, known.err
		}
	}
	return since, err
}

// forgetOthers drops the counts of other instances once no store runs, because nothing updates them.
func (m *Memory) forgetOthers(now time.Time) {
	if m.Stores() {
		return
	}
	m.others.Store(nil)
	m.parts.Rates.Share(now, false)
}

// Stores reports whether a store runs.
func (m *Memory) Stores() bool { return m != nil && m.stores.Load() > 0 }

// writingOf returns the lock for writes of a kind.
func (m *Memory) writingOf(kind string) *sync.Mutex {
	if kind == kindLedger {
		return &m.writingLedger
	}
	return &m.writing
}

// NewMemory returns a memory of these parts, all of which are required.
func NewMemory(parts Parts) *Memory {
	return &Memory{parts: parts}
}

// Expect announces a store, which need not begin soon. Requests wait until restored is called or ctx
// ends. If another store runs and has read its values, requests wait for the new store only once it
// begins, because loading a configuration may take long.
func (m *Memory) Expect(ctx context.Context) (restored func()) {
	known, restored := context.WithCancel(ctx)
	done := known.Done()
	if m.Stores() && isClosed(m.Restored()) {
		m.next.Store(&done)
	} else {
		m.next.Store(nil) // from a configuration that failed to load
		m.restored.Store(&done)
	}
	return restored
}

// begins makes requests wait for the store that was announced last.
func (m *Memory) begins() {
	if next := m.next.Swap(nil); next != nil {
		m.restored.Store(next)
	}
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

// Restored returns a channel that is closed after the first read of a store, nil without a store.
func (m *Memory) Restored() <-chan struct{} {
	if m == nil {
		return nil
	}
	if restored := m.restored.Load(); restored != nil {
		return *restored
	}
	return nil
}

// Cold reports whether the process has just begun and has not read all stored values.
func (m *Memory) Cold() bool { return m != nil && m.cold.Load() }

// Others returns the ledger of the other instances, nil if unknown.
func (m *Memory) Others() *ledger.Ledger {
	if m == nil {
		return nil
	}
	return m.others.Load()
}
