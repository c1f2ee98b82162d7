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

// maxWanted is how many sites wait for what is stored of them.
const maxWanted = 256

// Parts are what of the memory of a process is stored.
type Parts struct {
	Policies *policy.Cache   // the robots.txt of each site
	Bases    *policy.Cache   // those that others are composed from
	Copies   *copies.Book    // files that crawlers may be using
	Readers  *ledger.Readers // robots fetches of crawlers
	Changes  Changes         // what the change guard knows
	Lists    Lists           // of addresses
	Ledger   *ledger.Ledger  // what crawlers did

	Acknowledgements Acknowledgements // of alerts
	Rates            Rates            // how often this instance was asked
}

// Changes is what is remembered of changes of a robots.txt, at sites that the
// configuration names.
type Changes interface {
	// Sites returns the sites of which something is remembered.
	Sites() []policy.Key
	// Revision tells whether there is something new: to what is held back, which
	// is to be stored at once, and to what was visited.
	Revision(site policy.Key) (holds, visits uint64)
	// Snapshot returns what is worth keeping of a site. ok is false if that is
	// nothing any more.
	Snapshot(site policy.Key) (kept ledger.Changes, ok bool)
	// Restore takes in what was kept, by this instance or elsewhere, and returns
	// how many changes are held back again. complete is false if that is about
	// a version which is not known yet. state is nil if none of the site is.
	Restore(kept ledger.Changes, state *policy.State, elsewhere bool) (held int, complete bool)
}

// Lists are the lists of addresses of crawlers.
type Lists interface {
	// Fetched returns how often one was fetched: what has not been is not stored.
	Fetched() uint64
	// Export returns all lists as bytes, for Import.
	Export() ([]byte, error)
	// Import takes lists into use that are newer than what is known of them.
	Import(data []byte) error
}

// Acknowledgements are what the owner knows of alerts.
type Acknowledgements interface {
	// Revision tells how often they have changed: those that never have are not stored.
	Revision() uint64
	// Export returns them as bytes, for Import.
	Export() ([]byte, error)
	// Import takes over those that are later than what is known.
	Import(data []byte) error
}

// Rates are how often crawlers have asked lately.
type Rates interface {
	// Share says whether there are other instances to share with now.
	Share(now time.Time, others bool)
	// Export returns what was counted as bytes, for Import; nil if nothing was.
	Export(now time.Time) ([]byte, error)
	// Import takes in what another instance has counted.
	Import(instance string, data []byte, now time.Time) error
}

// Memory is what one process knows and a store keeps. It survives its stores: a
// reload has two of them for a moment. A nil Memory is that of a process which
// keeps nothing.
type Memory struct {
	parts Parts
	// These are held while a value goes to the storage, so that the last one
	// written is the last one known. The ledger waits for nobody.
	writing, writingLedger sync.Mutex

	wanted   chan policy.Key
	cold     atomic.Bool
	restored atomic.Pointer[<-chan struct{}] // nil without a storage
	next     atomic.Pointer[<-chan struct{}] // the same of a store that will take over

	ledgerRead struct {
		sync.Mutex
		done bool
	}
	others atomic.Pointer[ledger.Ledger]

	stores   atomic.Int32 // that run, but for those that keep bases alone
	troubles troubles     // of those that write
}

// troubles are which kinds of values cannot be stored. The zero value has none.
type troubles struct {
	mu  sync.Mutex
	all map[string]writeTrouble // by kind
}

type writeTrouble struct {
	since time.Time
	err   error // the latest
}

// note takes note of an attempt to write a value.
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

// Trouble returns since when no value of some kind could be stored, and why; the
// zero time if all can be, or nothing is.
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

// forgetOthers forgets what other instances have told, once no store runs any more that
// could tell something newer.
func (m *Memory) forgetOthers(now time.Time) {
	if m.Stores() {
		return
	}
	m.others.Store(nil)
	m.parts.Rates.Share(now, false)
}

// Stores reports whether a store runs.
func (m *Memory) Stores() bool { return m != nil && m.stores.Load() > 0 }

// writingOf returns what is held while a value of a kind is written.
func (m *Memory) writingOf(kind string) *sync.Mutex {
	if kind == kindLedger {
		return &m.writingLedger
	}
	return &m.writing
}

// NewMemory returns a memory of these parts, of which all are needed.
func NewMemory(parts Parts) *Memory {
	return &Memory{parts: parts, wanted: make(chan policy.Key, maxWanted)}
}

// Expect says that a store will begin, which need not be soon: requests wait until it has
// called restored, or ctx has ended. Where another store runs that has told what is stored,
// they wait for this one only once it begins, for to load a configuration may take long.
func (m *Memory) Expect(ctx context.Context) (restored func()) {
	known, restored := context.WithCancel(ctx)
	done := known.Done()
	if m.Stores() && isClosed(m.Restored()) {
		m.next.Store(&done)
	} else {
		m.next.Store(nil) // of a configuration that could not be loaded
		m.restored.Store(&done)
	}
	return restored
}

// begins has requests wait for the store that was expected last.
func (m *Memory) begins() {
	if next := m.next.Swap(nil); next != nil {
		m.restored.Store(next)
	}
}

// isClosed reports whether a channel is closed, which is nil for one that nobody waits for.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return c == nil
	}
}

// Restored returns a channel that is closed once it is known what is stored, nil
// if nothing is.
func (m *Memory) Restored() <-chan struct{} {
	if m == nil {
		return nil
	}
	if restored := m.restored.Load(); restored != nil {
		return *restored
	}
	return nil
}

// Cold reports whether the process has just begun, and may know some of what is
// stored and not all.
func (m *Memory) Cold() bool { return m != nil && m.cold.Load() }

// Want asks for what is stored of a site that was not in the cache: it may have
// been there before, and have been dropped for others. That is of use for sites
// that the configuration names. Nobody waits for it.
func (m *Memory) Want(site policy.Key) {
	if m == nil || site.Segment() != policy.Named {
		return
	}
	select {
	case m.wanted <- site:
	default: // nobody reads the storage, or not fast enough
	}
}

// Others returns what other instances have counted and stored, nil if that is
// not known.
func (m *Memory) Others() *ledger.Ledger {
	if m == nil {
		return nil
	}
	return m.others.Load()
}
