package policy

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
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
