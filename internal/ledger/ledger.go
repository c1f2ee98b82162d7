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

// These are bounds of a ledger: sites, and rows of all sites together. Further sites share the site
// Other. Further crawlers of a site share rows with the token Other. The site Other and such rows
// can exceed the bounds.
const (
	maxSites   = 500
	maxAllRows = 2000
)

// MaxRetention is the maximum and default time for which a ledger keeps data.
const MaxRetention = 90 * 24 * time.Hour

// MinRetention is the minimum time that can be configured.
const MinRetention = time.Hour

// maxRequestDelay is the maximum time from the start of a snapshot to a request in the snapshot,
// because requests are recorded while a snapshot is made. Later times come from a wrong clock: such
// data are dropped, or their times limited.
const maxRequestDelay = time.Minute

// Ledger counts the requests of crawlers by site and crawler. A Ledger is safe for concurrent use.
// Recording a request does not block while a buffer with room is free.
type Ledger struct {
	now       func() time.Time
	retention atomic.Int64 // retention is a time.Duration.
	buffers   *bufferPool

	_ [64]byte // This separates fields that requests read from fields that they write.

	// mu guards the fields below. A goroutine may wait for the lock of a buffer after locking mu.
	// After locking a buffer, the goroutine must use TryLock for mu.
	mu        sync.Mutex
	sites     map[string]*Site
	startTime time.Time
	numRows   int         // numRows is the number of rows of all sites.
	batch     recordBatch // batch has the requests that are being counted.
}

// New returns an empty Ledger that keeps data for MaxRetention. now returns the current time.
func New(now func() time.Time) *Ledger {
	l := &Ledger{now: now, buffers: newBufferPool(), sites: make(map[string]*Site), startTime: now()}
	l.retention.Store(int64(MaxRetention))
	return l
}

// SetRetention sets the time for which the ledger keeps data. 0 and values above MaxRetention mean
// MaxRetention.
func (l *Ledger) SetRetention(retention time.Duration) {
	if retention <= 0 || retention > MaxRetention {
		retention = MaxRetention
	}
	l.retention.Store(int64(retention))
}

// Record records a request. It copies the strings that come from the client, except a User-Agent
// with MayRetainUserAgent. Record blocks only while all buffers are full or in use.
func (l *Ledger) Record(q *Request) {
	b := l.lockBuffer()
	b.addRequest(q)
	l.releaseBuffer(b)
}

// lockBuffer locks and returns a buffer with room. If all buffers are full or in use, it counts
// their records first.
func (l *Ledger) lockBuffer() *recordBuffer {
	for {
		if b := l.buffers.lockAvailable(); b != nil {
			return b
		}
		l.mu.Lock()
		l.countBufferedRecords()
		l.mu.Unlock()
	}
}

// releaseBuffer unlocks a buffer, and counts its records if the buffer is due and no other
// goroutine is counting.
func (l *Ledger) releaseBuffer(b *recordBuffer) {
	// If another goroutine is counting, the buffer has room for more requests.
	if b.isDue() && l.mu.TryLock() {
		l.swapBatch(b)
		b.mu.Unlock()
		l.countBatch()
		l.mu.Unlock()
	} else {
		b.mu.Unlock()
	}
}

// countBufferedRecords counts the records in all buffers. The caller must have locked l.mu.
func (l *Ledger) countBufferedRecords() {
	for _, b := range l.buffers.buffers {
		b.mu.Lock()
		l.swapBatch(b)
		b.mu.Unlock()
		l.countBatch()
	}
}

// swapBatch moves the records of a buffer to l.batch. The caller must have locked l.mu and the
// buffer.
func (l *Ledger) swapBatch(b *recordBuffer) { l.batch, b.recordBatch = b.recordBatch, l.batch }

// countBatch counts the records in l.batch, and removes them. The caller must have locked l.mu.
func (l *Ledger) countBatch() {
	for i := range l.batch.requests {
		q := &l.batch.requests[i]
		s := l.getOrCreateSite(q.Site)
		s.revision++
		l.getOrCreateRow(s, newRowKey(q.Token, q.Class, q.Identity), q.NamedByRobots, q.unixMilli()).countRequest(q)
		s.countHost(q)
		s.countLines(q)
	}
	for i := range l.batch.responses {
		a := &l.batch.responses[i]
		s := l.getOrCreateSite(a.Site)
		s.revision++
		l.getOrCreateRow(s, newRowKey(a.Token, a.Class, a.Identity), a.NamedByRobots, a.At.UnixMilli()).countResponse(a)
	}
	for _, v := range l.batch.visits {
		s := l.getOrCreateSite(v.site)
		s.revision++
		s.getOrCreateVisits(v.name).updateBuckets(v.at, func(c *HumanVisitBucket) { c.add(&HumanVisitBucket{0, 1}) })
	}
	l.batch.clear()
}

// getOrCreateRow returns the row that counts the requests of a crawler at a site. See
// [Site.getOrCreateRow]. The caller must have locked l.mu.
func (l *Ledger) getOrCreateRow(s *Site, key rowKey, namedByRobots bool, at int64) *Row {
	before := len(s.Rows)
	w := s.getOrCreateRow(key, namedByRobots, at, l.numRows < maxAllRows)
	l.numRows += len(s.Rows) - before // The difference is 1, 0 or -1, as rows can be merged.
	w.NamedByRobots = w.NamedByRobots || namedByRobots
	return w
}

// getOrCreateSite returns the site with a name, and creates it if the ledger has room, else the
// site Other. The caller must have locked l.mu.
func (l *Ledger) getOrCreateSite(name string) *Site {
	name = text.Truncate(name, maxSiteNameBytes)
	if s := l.sites[name]; s != nil {
		return s
	}
	if len(l.sites) >= maxSites && name != Other {
		return l.getOrCreateSite(Other)
	}
	s := &Site{Name: strings.Clone(name), revision: 1}
	l.sites[s.Name] = s
	return s
}

// maxSiteNameBytes bounds the name of a site, in bytes. DNS allows 253.
const maxSiteNameBytes = 260

// Snapshot returns a copy of the ledger. It first removes expired data. Between two sites it
// unlocks the ledger, so a site can be newer than the previous one.
func (l *Ledger) Snapshot() Snapshot {
	now, retention := l.now().UnixMilli(), time.Duration(l.retention.Load())
	l.mu.Lock()
	l.countBufferedRecords()
	names := slices.Sorted(maps.Keys(l.sites))
	snapshot := Snapshot{Saved: now, Since: l.startTime.UnixMilli(), Retention: retention}
	l.mu.Unlock()
	for _, name := range names {
		if s := l.copySite(name, now+maxRequestDelay.Milliseconds(), retention); s != nil {
			snapshot.Sites = append(snapshot.Sites, s)
		}
	}
	return snapshot
}

// copySite returns a copy of a site after removing expired data. The result is nil if no data
// remain. now is in Unix milliseconds.
func (l *Ledger) copySite(name string, now int64, retention time.Duration) *Site {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countBufferedRecords() // These requests were recorded since the previous site was copied.
	s := l.sites[name]
	if s == nil {
		return nil
	}
	before := len(s.Rows)
	hasData := s.prune(now, retention)
	l.numRows += len(s.Rows) - before
	if !hasData {
		delete(l.sites, name)
		return nil
	}
	return s.clone()
}

// RestoreSite adds the counts of a stored site to the ledger. since is the time at which the stored
// ledger began to count.
func (l *Ledger) RestoreSite(site *Site, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countBufferedRecords()
	if isPlausibleTime(since) && since.Before(l.startTime) {
		l.startTime = since
	}
	s := l.getOrCreateSite(site.Name)
	before := len(s.Rows)
	s.merge(site)
	s.restoreMode(site.Mode)
	for s.unsharedRowCount() > 0 && l.numRows+len(s.Rows)-before > maxAllRows {
		s.mergeIdlestRow()
	}
	l.numRows += len(s.Rows) - before
}
