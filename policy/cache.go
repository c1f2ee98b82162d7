package policy

import (
	"crypto/sha256"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Key says whose robots.txt an Entry is about.
type Key struct {
	// Source is the URL or the file that the rules come from, "" for the site
	// itself. Sites with the same such source share an entry, which has no
	// authority.
	Source string
	// Secure tells https from http.
	Secure bool
	// Host is the normalised host, with the port unless it is the default.
	Host string
	// Forwarded is the host that a trusted proxy was asked for, if the site
	// may depend on it.
	Forwarded string
}

// String returns the source or the authority as a URL without a path.
func (k Key) String() string {
	switch {
	case k.Source != "":
		return k.Source
	case k.Secure:
		return "https://" + k.Host
	}
	return "http://" + k.Host
}

// Segment is a part of a Cache with bounds of its own.
type Segment uint8

const (
	// Named holds the sites that the configuration names.
	Named Segment = iota
	// Invented holds hosts that only clients name. However many these are,
	// they neither evict a named site nor delay its fetches.
	Invented

	segments = 2
)

// String returns named or invented.
func (s Segment) String() string { return [...]string{"named", "invented"}[s] }

// Bounds limit one segment of a Cache.
type Bounds struct {
	Entries int // sites kept
	Bytes   int // estimated memory of their rules, equal texts counted once
	Reads   int // attempts to read a robots.txt at the same time
}

// Cache keeps the standing of many sites. Looking one up takes no lock. It may
// be used by several goroutines at once.
type Cache struct {
	now    func() time.Time
	derive func(*Robots) any
	index  index

	mu   sync.Mutex // guards all below
	kept [segments]*segment
}

// segment is what the bounds of one part of the cache are kept with.
type segment struct {
	bounds  Bounds
	order   *simplelru.LRU[Key, *Entry]
	texts   texts
	reading int
	evicted uint64
}

// NewCache returns a cache with these bounds. now is the clock, time.Now
// outside of tests. derive makes of each text what the caller wants to keep
// beside it, in [Version.Derived]; it may be nil.
func NewCache(named, invented Bounds, now func() time.Time, derive func(*Robots) any) *Cache {
	if derive == nil {
		derive = func(*Robots) any { return nil }
	}
	c := &Cache{now: now, derive: derive}
	for i, b := range [segments]Bounds{named, invented} {
		b.Entries, b.Reads = max(b.Entries, 1), max(b.Reads, 1)
		order, _ := simplelru.NewLRU[Key, *Entry](b.Entries, nil) // fails for sizes below 1 only
		c.kept[i] = &segment{bounds: b, order: order, texts: texts{byHash: make(map[[sha256.Size]byte]*sharedText)}}
	}
	return c
}

// Entry is the place of one site in a Cache.
type Entry struct {
	key      Key
	segment  Segment
	cache    *Cache
	standing atomic.Pointer[Standing]
	used     atomic.Int64 // Unix seconds of the last use that was noted
	doubted  atomic.Bool  // the copy is known to be outdated
	placed   int64        // used when the entry was last put in front; guarded by Cache.mu

	mu      sync.Mutex
	reading chan struct{} // closed when the attempt under way ends; nil if none is
	again   bool          // make the entry due when that has ended
}

// Get returns the entry of a site, nil if there is none. It takes no lock and
// does not allocate.
func (c *Cache) Get(key Key) *Entry { return c.index.get(key) }

// Entries returns all entries, in no order.
func (c *Cache) Entries() []*Entry {
	var all []*Entry
	for i := range c.index.shards {
		if m := c.index.shards[i].Load(); m != nil {
			all = slices.AppendSeq(all, maps.Values(*m))
		}
	}
	return all
}

// Add returns the entry of a site, making one if there is none.
func (c *Cache) Add(key Key, s Segment) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.index.get(key); e != nil {
		return e
	}
	kept := c.kept[s]
	if kept.order.Len() >= kept.bounds.Entries || kept.texts.bytes > kept.bounds.Bytes {
		c.evict(kept) // the second is one entry that is too large, as long as it is alone
	}
	e := &Entry{key: key, segment: s, cache: c}
	e.placed = c.now().Unix()
	e.used.Store(e.placed)
	kept.order.Add(key, e)
	c.index.put(key, e)
	return e
}

// maxChances is how many entries an eviction looks at before it takes the next
// one, whatever that is.
const maxChances = 32

// evict drops the entry that was not used for longest, nearly: uses are noted
// without a lock and without an order, so an entry at the end that was used
// since it was placed gets a second chance. So does one that cannot be had again
// by reading the file.
func (c *Cache) evict(kept *segment) {
	now := c.now()
	for range min(maxChances, kept.order.Len()-1) {
		_, e, _ := kept.order.GetOldest()
		used := e.used.Load()
		if used <= e.placed && !e.irreplaceable(now) {
			break
		}
		e.placed = max(used, e.placed)
		kept.order.Get(e.key) // puts it in front
	}
	key, e, ok := kept.order.RemoveOldest()
	if !ok {
		return
	}
	kept.evicted++
	c.index.remove(key)
	kept.texts.releaseAll(e.standing.Load())
}

// irreplaceable reports whether an eviction would be noticed: crawlers may still
// follow an earlier version, or the file cannot be read now.
func (e *Entry) irreplaceable(now time.Time) bool {
	s := e.standing.Load()
	return s != nil && s.Good != nil && (s.Failures > 0 || len(s.Held(now, time.Time{}, MaxAge)) > 0)
}

// Use notes that the entry was used now, which delays its eviction.
func (e *Entry) Use(now time.Time) {
	// One write a second is plenty, and keeps processors from fighting over
	// the cache line.
	if seconds := now.Unix(); seconds > e.used.Load() {
		e.used.Store(seconds)
	}
}

// Key returns whose entry it is.
func (e *Entry) Key() Key { return e.key }

// Segment returns the part of the cache that the entry is in.
func (e *Entry) Segment() Segment { return e.segment }

// Hasten makes the entry due, also if it waits after a failure. If it is being
// read, it is due when that has ended, for what is read may be older than the
// wish to have it read.
func (e *Entry) Hasten() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.again = e.reading != nil; !e.again {
		e.hasten()
	}
}

// hasten makes the entry due. e.mu must be held, and nobody may be reading.
func (e *Entry) hasten() {
	for s := e.standing.Load(); s != nil; s = e.standing.Load() {
		hastened := *s
		hastened.Due = e.cache.now()
		if e.standing.CompareAndSwap(s, &hastened) { // not over what is restored meanwhile
			return
		}
	}
}

// Standing returns what is known of the site, nil before the first answer.
func (e *Entry) Standing() *Standing { return e.standing.Load() }

// Due reports whether the robots.txt should be read again.
func (e *Entry) Due(now time.Time) bool {
	s := e.standing.Load()
	return s == nil || !now.Before(s.Due) || e.Doubted() && s.Failures == 0
}

// doubtInterval is how soon after a reading the copy may be doubted again. A
// site that answers everybody differently is not read all the time for that.
const doubtInterval = 10 * time.Second

// Doubt says that the site was seen to answer with another robots.txt than our
// copy, which makes the entry due.
func (e *Entry) Doubt(now time.Time) {
	s := e.standing.Load()
	if s == nil || s.Good == nil || now.Sub(s.Good.LastRead) < doubtInterval {
		return
	}
	e.doubted.Store(true)
}

// Doubted reports whether the copy is known to be outdated and was not read
// since.
func (e *Entry) Doubted() bool { return e.doubted.Load() }

// Refresh reads the robots.txt if it is due, in a goroutine that ends soon
// after read returns; at most one such goroutine runs for an entry, and a
// bounded number for the segment. A good answer holds as long as f
// says. settled, if not
// nil, is told what was known before and what is known now.
//
// Refresh returns a channel that is closed when the attempt under way has
// ended, nil if there is none: the entry is not due, or too many others are
// being read.
func (e *Entry) Refresh(f Freshness, read func() Answer, settled func(before, after Standing)) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reading != nil {
		return e.reading
	}
	if !e.Due(e.cache.now()) || !e.cache.beginRead(e.segment) {
		return nil
	}
	done := make(chan struct{})
	e.reading = done
	go func() {
		before, after := e.settle(read(), f)
		e.cache.endRead(e.segment)
		e.mu.Lock()
		e.reading = nil
		if e.again {
			e.again = false
			e.hasten()
		}
		e.mu.Unlock()
		close(done)
		if settled != nil {
			settled(before, after)
		}
	}()
	return done
}

func (c *Cache) beginRead(s Segment) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[s].reading >= c.kept[s].bounds.Reads {
		return false
	}
	c.kept[s].reading++
	return true
}

func (c *Cache) endRead(s Segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[s].reading--
}

// settle takes an answer.
func (e *Entry) settle(a Answer, f Freshness) (before, next Standing) {
	for {
		before = Standing{}
		known := e.standing.Load()
		if known != nil {
			before = *known
		}
		next = before.After(a, e.cache.now(), f, rand.Float64())
		if next.Good != before.Good && next.Good.Derived == nil {
			next.Good.Derived = e.cache.derive(next.Good.Robots)
		}
		if next.Failures == 0 {
			e.doubted.Store(false)
		}
		if e.replace(known, &next) {
			return before, next
		}
	}
}

// replace makes next the standing, unless that is not before any more. It is
// the only place that changes which versions an entry has.
func (e *Entry) replace(before, next *Standing) bool {
	c := e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.standing.Load() != before {
		return false
	}
	if c.index.get(e.key) != e {
		e.standing.Store(next) // evicted meanwhile: only the requests that wait will see it
		return true
	}
	kept := c.kept[e.segment]
	if before == nil || next.Good != before.Good || len(next.Past) != len(before.Past) {
		if next.Good != nil {
			kept.texts.keepAll(next)
		}
		kept.texts.releaseAll(before)
	}
	e.standing.Store(next)
	for kept.texts.bytes > kept.bounds.Bytes && kept.order.Len() > 1 {
		c.evict(kept)
	}
	return true
}

// CacheStats are counts of one segment.
type CacheStats struct {
	Entries int    // sites kept
	Bytes   int    // estimated memory of their rules
	Evicted uint64 // sites dropped since the start to keep within the bounds
}

// Stats returns the counts of a segment.
func (c *Cache) Stats(s Segment) CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.kept[s]
	return CacheStats{Entries: kept.order.Len(), Bytes: kept.texts.bytes, Evicted: kept.evicted}
}
