package ledger

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Bounds of a ledger: sites, and rows of all sites together. Further sites and crawlers share
// the name Other. Each site has at least one row.
const (
	maxSites   = 500
	maxAllRows = 2000
)

// MaxRetention is the maximum and default retention.
const MaxRetention = 90 * 24 * time.Hour

// MinRetention is the minimum configurable retention.
const MinRetention = time.Hour

// skew is the maximum age of a request relative to a snapshot that is being made. Requests
// that are still later have a wrong clock and are dropped.
const skew = time.Minute

// Ledger counts the requests of crawlers. A Ledger is safe for concurrent use. Recording a request
// does not block while the buffers have room.
type Ledger struct {
	now       func() time.Time
	retention atomic.Int64 // a time.Duration
	buffers   *buffers

	_ [64]byte // separates fields that requests read from fields that they write

	// mu guards the fields below. A goroutine may wait for the lock of a buffer after locking mu.
	// After locking a buffer, the goroutine must use TryLock for mu.
	mu        sync.Mutex
	sites     map[string]*Site
	startTime time.Time
	rows      int   // of all sites
	batch     batch // being counted
}

// New returns an empty Ledger with MaxRetention. now is the clock.
func New(now func() time.Time) *Ledger {
	l := &Ledger{now: now, buffers: newBuffers(), sites: make(map[string]*Site), startTime: now()}
	l.retention.Store(int64(MaxRetention))
	return l
}

// SetRetention sets the retention. 0 means MaxRetention.
func (l *Ledger) SetRetention(retention time.Duration) {
	if retention <= 0 || retention > MaxRetention {
		retention = MaxRetention
	}
	l.retention.Store(int64(retention))
}

// Record records a request, and does not retain memory of q after the next count. Record blocks
// only if maxPending requests wait for counting.
func (l *Ledger) Record(q *Request) {
	b := l.lockBuffer()
	b.add(q)
	l.releaseBuffer(b)
}

// lockBuffer returns a buffer with room, locked.
func (l *Ledger) lockBuffer() *buffer {
	for {
		if b := l.buffers.lockFree(); b != nil {
			return b
		}
		l.mu.Lock()
		l.countAll()
		l.mu.Unlock()
	}
}

// releaseBuffer unlocks a buffer, and counts its requests if due.
func (l *Ledger) releaseBuffer(b *buffer) {
	// If another goroutine is counting, the buffer has room for more requests.
	if b.isDue() && l.mu.TryLock() {
		l.swap(b)
		b.mu.Unlock()
		l.countBatch()
		l.mu.Unlock()
	} else {
		b.mu.Unlock()
	}
}

// countAll counts the requests in all buffers. The caller must have locked l.mu.
func (l *Ledger) countAll() {
	for _, b := range l.buffers.all {
		b.mu.Lock()
		l.swap(b)
		b.mu.Unlock()
		l.countBatch()
	}
}

// swap moves the records of a buffer to l.batch. The caller must have locked l.mu and the buffer.
func (l *Ledger) swap(b *buffer) { l.batch, b.batch = b.batch, l.batch }

// countBatch counts the batch. The caller must have locked l.mu.
func (l *Ledger) countBatch() {
	for i := range l.batch.requests {
		q := &l.batch.requests[i]
		s := l.site(q.Site)
		s.revision++
		l.row(s, keyOf(q.Token, q.Class, q.Identity), q.NamedByRobots, q.at()).countRequest(q)
		s.countHost(q)
		s.countLines(q)
	}
	for i := range l.batch.answers {
		a := &l.batch.answers[i]
		s := l.site(a.Site)
		s.revision++
		l.row(s, keyOf(a.Token, a.Class, a.Identity), a.NamedByRobots, a.At.UnixMilli()).countAnswer(a)
	}
	for _, v := range l.batch.visits {
		s := l.site(v.site)
		s.revision++
		s.visits(v.name).count(v.at, func(c *VisitCell) { c.add(&VisitCell{0, 1}) })
	}
	l.batch.clear()
}

// row returns the row for a crawler. The caller must have locked l.mu.
func (l *Ledger) row(s *Site, key rowKey, named bool, at int64) *Row {
	before := len(s.Rows)
	w := s.rowFor(key, named, at, l.rows < maxAllRows)
	l.rows += len(s.Rows) - before // one row more, or one less after folding
	return w
}

// site returns a site, created if the ledger has room, or else Other. The caller must have locked
// l.mu.
func (l *Ledger) site(name string) *Site {
	name = text.Truncate(name, maxSiteName)
	if s := l.sites[name]; s != nil {
		return s
	}
	if len(l.sites) >= maxSites && name != Other {
		return l.site(Other)
	}
	s := &Site{Name: strings.Clone(name), revision: 1}
	l.sites[s.Name] = s
	return s
}

// maxSiteName bounds the name of a site, in bytes. DNS allows 253.
const maxSiteName = 260

// Snapshot returns a copy of the ledger without expired data. It unlocks the ledger between
// sites.
func (l *Ledger) Snapshot() Snapshot {
	now, retention := l.now().UnixMilli(), time.Duration(l.retention.Load())
	l.mu.Lock()
	l.countAll()
	names := slices.Sorted(maps.Keys(l.sites))
	snapshot := Snapshot{Saved: now, Since: l.startTime.UnixMilli(), Retention: retention}
	l.mu.Unlock()
	for _, name := range names {
		if s := l.snapshot(name, now+skew.Milliseconds(), retention); s != nil {
			snapshot.Sites = append(snapshot.Sites, s)
		}
	}
	return snapshot
}

// snapshot returns a copy of a site, or nil if all its data are expired.
func (l *Ledger) snapshot(name string, now int64, retention time.Duration) *Site {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll() // requests recorded since the previous site
	s := l.sites[name]
	if s == nil {
		return nil
	}
	before := len(s.Rows)
	left := s.prune(now, retention)
	l.rows += len(s.Rows) - before
	if !left {
		delete(l.sites, name)
		return nil
	}
	return s.clone()
}

// Restore adds a stored site. since is the time at which the stored ledger began to count.
func (l *Ledger) Restore(site *Site, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll()
	if isPlausibleTime(since) && since.Before(l.startTime) {
		l.startTime = since
	}
	s := l.site(site.Name)
	before := len(s.Rows)
	s.merge(site)
	s.restoreMode(site.Mode)
	for s.ownRowCount() > 0 && l.rows+len(s.Rows)-before > maxAllRows {
		s.mergeIdlestRow()
	}
	l.rows += len(s.Rows) - before
}
