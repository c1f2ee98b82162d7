package ledger

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Bounds of a ledger: sites, and rows of all sites together. Beyond them sites
// and crawlers share the name Other; each site has one row in any case.
const (
	maxSites   = 500
	maxAllRows = 2000
)

// MaxRetention is for how long anything is kept at most, which is the default.
const MaxRetention = 90 * 24 * time.Hour

// MinRetention is the least that may be configured.
const MinRetention = time.Hour

// skew is how far after the time of a snapshot a request may be that it holds:
// others go on while it is made. What is later still has the time of a clock
// that was wrong, and is forgotten lest it keep what comes now out.
const skew = time.Minute

// Ledger counts what crawlers do. It may be used by several goroutines at once.
// Taking note of a request or a reading waits for nobody, as long as there is
// room for what is not counted yet.
type Ledger struct {
	now       func() time.Time
	retention atomic.Int64 // a time.Duration
	buffers   *buffers
	readings  readings

	_ [64]byte // all requests read what is above, and write what is below

	// mu guards what follows. Whoever holds it may wait for the lock of a
	// buffer; whoever holds that may only try to take mu.
	mu    sync.Mutex
	sites map[string]*Site
	since time.Time
	rows  int   // of all sites
	batch notes // that is being counted
}

// New returns an empty Ledger with MaxRetention. now is the clock.
func New(now func() time.Time) *Ledger {
	l := &Ledger{now: now, buffers: newBuffers(), sites: make(map[string]*Site), since: now()}
	l.retention.Store(int64(MaxRetention))
	return l
}

// Retain sets for how long anything is kept; 0 means MaxRetention.
func (l *Ledger) Retain(retention time.Duration) {
	if retention <= 0 || retention > MaxRetention {
		retention = MaxRetention
	}
	l.retention.Store(int64(retention))
}

// Record takes note of a request. It keeps nothing that q refers to for longer
// than until the next reading of the ledger. It waits only if maxPending
// requests are noted and not counted.
func (l *Ledger) Record(q *Request) {
	b := l.locked()
	b.add(q, l.readings.noted.Load())
	l.release(b)
}

// locked returns a buffer with room, and holds its lock.
func (l *Ledger) locked() *buffer {
	for {
		if b := l.buffers.lock(); b != nil {
			return b
		}
		l.mu.Lock()
		l.makeRoom()
		l.mu.Unlock()
	}
}

// makeRoom counts what is in one buffer, unless others have done so meanwhile. It waits
// for no buffer: who uses one may have lost the processor. l.mu must be held.
func (l *Ledger) makeRoom() {
	for _, b := range l.buffers.all {
		if !b.mu.TryLock() {
			continue
		}
		full := !b.room(b.most)
		if full {
			l.take(b)
		}
		b.mu.Unlock()
		if full {
			l.count()
		}
		return
	}
	runtime.Gosched()
}

// release lets go of a buffer, and counts what is in it if that is enough.
func (l *Ledger) release(b *buffer) {
	// Who finds others counting leaves the buffer as it is: there is room in it
	// for more.
	if b.ripe() && l.mu.TryLock() {
		l.take(b)
		b.mu.Unlock()
		l.count()
		l.mu.Unlock()
	} else {
		b.mu.Unlock()
	}
}

// countAll counts what is in the buffers. l.mu must be held.
func (l *Ledger) countAll() {
	for _, b := range l.buffers.all {
		b.mu.Lock()
		l.take(b)
		b.mu.Unlock()
		l.count()
	}
}

// take takes what was noted out of a buffer, for count. l.mu and the lock of
// the buffer must be held.
func (l *Ledger) take(b *buffer) { l.batch, b.notes = b.notes, l.batch }

// count counts what was taken, and the readings before it. l.mu must be held.
func (l *Ledger) count() {
	l.countReadings()
	var last lastSite
	for q := range l.batch.all() {
		s := l.siteAfter(&last, q.Site)
		l.row(s, q.crawler, q.at).note(q)
		s.noteHost(q)
		s.noteLines(q)
	}
	l.countAnswers()
	l.countVisits()
	l.batch.clear()
}

// row returns the row of the crawler of a request. l.mu must be held.
func (l *Ledger) row(s *Site, q crawler, at int64) *Row {
	before := len(s.Rows)
	w := s.row(rowKey{q.Token, q.Class.String(), q.Identity}, q.Named, at, l.rows < maxAllRows)
	l.rows += len(s.Rows) - before // one more, or one less that made room
	return w
}

// site returns a site, making it if there is room, else Other. l.mu must be
// held.
func (l *Ledger) site(name string) *Site {
	name = text.Cut(name, maxSiteName)
	if s := l.sites[name]; s != nil {
		return s
	}
	if len(l.sites) >= maxSites && name != Other {
		return l.site(Other)
	}
	s := &Site{Name: strings.Clone(name), noted: 1}
	l.sites[s.Name] = s
	return s
}

// lastSite is the site that was looked up last, by which name. Many requests in turn are
// for one.
type lastSite struct {
	name string
	site *Site
}

// siteAfter is site after another one. l.mu must be held since that.
func (l *Ledger) siteAfter(last *lastSite, name string) *Site {
	if last.site == nil || last.name != name {
		*last = lastSite{name, l.site(name)}
	}
	last.site.noted++
	return last.site
}

// maxSiteName bounds the name of a site, in bytes. DNS allows 253.
const maxSiteName = 260

// Snapshot returns what the ledger knows. What is older than the retention is
// forgotten before. It lets others go on between one site and the next.
func (l *Ledger) Snapshot() Snapshot {
	now, retention := l.now().UnixMilli(), time.Duration(l.retention.Load())
	l.mu.Lock()
	l.countAll()
	names := slices.Sorted(maps.Keys(l.sites))
	snapshot := Snapshot{Saved: now, Since: l.since.UnixMilli(), Retention: retention}
	l.mu.Unlock()
	for _, name := range names {
		if s := l.snapshot(name, now+skew.Milliseconds(), retention); s != nil {
			snapshot.Sites = append(snapshot.Sites, s)
		}
	}
	return snapshot
}

// snapshot returns what is known of a site, nil if nothing is left.
func (l *Ledger) snapshot(name string, now int64, retention time.Duration) *Site {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll() // what came during the site before
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

// Restore adds what a ledger has known before, at one site. since is when that
// one began to count.
func (l *Ledger) Restore(site *Site, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll()
	if sane(since) && since.Before(l.since) {
		l.since = since
	}
	s := l.site(site.Name)
	before := len(s.Rows)
	s.merge(site)
	s.restoreMode(site.Mode)
	for s.own() > 0 && l.rows+len(s.Rows)-before > maxAllRows {
		s.foldIdlest()
	}
	l.rows += len(s.Rows) - before
}
