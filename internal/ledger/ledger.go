// Package ledger remembers what crawlers did at which site, in bounded memory.
//
// A [Ledger] counts the requests of crawlers by site, crawler, class and
// identity. It is never keyed by what a client can invent: sites are those that
// the configuration names and crawlers those that the registry or a robots.txt
// names; all others share the name [Other]. What clients do invent, such as
// paths and User-Agents, is kept in sketches of fixed size, in fixed length.
package ledger

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
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
// Taking note of a request writes to a buffer that most often no other
// processor uses.
type Ledger struct {
	now       func() time.Time
	retention atomic.Int64 // a time.Duration
	buffers   *buffers

	mu    sync.Mutex // guards changes of what follows
	sites atomic.Pointer[map[string]*liveSite]
	since time.Time
	rows  atomic.Int64 // of all sites
}

// liveSite is a site that counts.
type liveSite struct {
	mu   sync.Mutex
	gone bool // the ledger has forgotten it
	Site
}

// New returns an empty Ledger with MaxRetention. now is the clock.
func New(now func() time.Time) *Ledger {
	l := &Ledger{now: now, buffers: newBuffers(), since: now()}
	l.retention.Store(int64(MaxRetention))
	l.sites.Store(&map[string]*liveSite{})
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
// than until the next reading of the ledger.
func (l *Ledger) Record(q *Request) {
	b := l.buffers.get()
	b.mu.Lock()
	if b.add(q) {
		b.drain(l.count)
	}
	b.mu.Unlock()
	l.buffers.free.Put(b)
}

// RecordRead takes note of what the crawler of a request got for a robots.txt.
// Requests that were recorded before it came before it.
func (l *Ledger) RecordRead(q *Request, read Read) {
	l.flush()
	s := l.lock(q.Site)
	defer s.mu.Unlock()
	key := rowKey{q.Token, q.Class.String(), q.Identity}
	w := s.row(key, q.Named, read.At, l.more)
	if w.FirstSeen == 0 {
		w.FirstSeen, w.LastSeen = read.At, read.At
	}
	w.noteRead(read)
}

// flush counts what is in the buffers.
func (l *Ledger) flush() {
	for _, b := range l.buffers.all {
		b.mu.Lock()
		b.drain(l.count)
		b.mu.Unlock()
	}
}

// count counts a request.
func (l *Ledger) count(q *pending) {
	s := l.lock(q.Site)
	defer s.mu.Unlock()
	s.row(rowKey{q.Token, q.Class.String(), q.Identity}, q.Named, q.at, l.more).note(q)
	s.noteLines(q)
}

// more reports whether another row may be made, and counts it.
func (l *Ledger) more() bool {
	if l.rows.Add(1) <= maxAllRows {
		return true
	}
	l.rows.Add(-1)
	return false
}

// lock returns a site and holds its lock.
func (l *Ledger) lock(name string) *liveSite {
	for {
		s := l.site(name)
		s.mu.Lock()
		if !s.gone {
			return s
		}
		s.mu.Unlock()
	}
}

// site returns a site, making it if there is room, else Other.
func (l *Ledger) site(name string) *liveSite {
	if s := (*l.sites.Load())[name]; s != nil {
		return s
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	sites := *l.sites.Load()
	if len(sites) >= maxSites && name != Other {
		name = Other
	}
	if s := sites[name]; s != nil {
		return s
	}
	name = own(name, maxSiteName)
	s := &liveSite{Site: Site{Name: name}}
	changed := maps.Clone(sites)
	changed[name] = s
	l.sites.Store(&changed)
	return s
}

// maxSiteName bounds the name of a site, in bytes. DNS allows 253.
const maxSiteName = 260

// Snapshot returns what the ledger knows. What is older than the retention is
// forgotten before.
func (l *Ledger) Snapshot() Snapshot {
	l.flush()
	now, retention := l.now().UnixMilli(), time.Duration(l.retention.Load())
	l.mu.Lock()
	defer l.mu.Unlock()
	snapshot := Snapshot{Saved: now, Since: l.since.UnixMilli()}
	rows := int64(0)
	left := make(map[string]*liveSite)
	for name, s := range *l.sites.Load() {
		s.mu.Lock()
		if s.prune(now+skew.Milliseconds(), retention) {
			left[name] = s
			snapshot.Sites = append(snapshot.Sites, s.clone())
			rows += int64(len(s.Rows))
		} else {
			s.gone = true
		}
		s.mu.Unlock()
	}
	l.sites.Store(&left)
	l.rows.Store(rows)
	snapshot.sort()
	return snapshot
}

// Restore adds what a ledger has known before, at one site. since is when that
// one began to count.
func (l *Ledger) Restore(site *Site, since time.Time) {
	l.flush()
	l.mu.Lock()
	if since.Before(l.since) {
		l.since = since
	}
	l.mu.Unlock()
	s := l.lock(site.Name)
	defer s.mu.Unlock()
	before := len(s.Rows)
	s.merge(site)
	for s.own() > 0 && l.rows.Load()+int64(len(s.Rows)-before) > maxAllRows {
		s.foldIdlest()
	}
	l.rows.Add(int64(len(s.Rows) - before))
}
