package policy

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
)

// Key identifies the robots.txt of an Entry. These names are also the stored JSON.
type Key struct {
	// Source is the URL or file of the rules, or "" for the site itself. Sites with the same
	// source share an entry without an authority.
	Source string `json:"source,omitempty"`
	// Server is the listen address of the server. The same host on two servers is two sites.
	Server string `json:"server,omitempty"`
	// Site is the host in the configuration: a host, a wildcard such as *.example.com, or ""
	// for any host.
	Site string `json:"site,omitempty"`
	// Secure reports whether the scheme is https.
	Secure bool `json:"secure,omitempty"`
	// Host is the canonical host, with a port unless it is the default port.
	Host string `json:"host,omitempty"`
	// ForwardedHost is the host that a trusted proxy forwards, if it differs from Host. With
	// a Source it is a host that only clients name and that has its own source.
	ForwardedHost string `json:"forwarded,omitempty"`
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

// Quoted returns a unique string for a key. Stored data depend on the string, so the format
// must not change.
func (k Key) Quoted() string {
	return fmt.Sprintf("%q %q %q %t %q %q", k.Source, k.Server, k.Site, k.Secure, k.Host, k.ForwardedHost)
}

// configuredSite is a site of the configuration, which can have many hosts.
type configuredSite struct {
	server, site string
	secure       bool
}

// configured returns the configured site of a host.
func (k Key) configured() configuredSite { return configuredSite{k.Server, k.Site, k.Secure} }

// SourceKind returns in a word where the robots.txt comes from: "server", "url" or
// "file".
func (k Key) SourceKind() string {
	switch {
	case k.Source == "":
		return "server"
	case k.IsFile():
		return "file"
	}
	return "url"
}

// IsFile reports whether the rules come from a file. Each machine has its own file.
func (k Key) IsFile() bool {
	return k.Source != "" && !strings.HasPrefix(k.Source, "https://") && !strings.HasPrefix(k.Source, "http://")
}

// Segment returns the segment of a key. Hosts that only clients name have their own segment.
func (k Key) Segment() Segment {
	if k.ForwardedHost != "" || k.Source == "" && k.isOfPattern() {
		return Invented
	}
	return Named
}

// isOfPattern reports whether the site is a wildcard or a catch-all.
func (k Key) isOfPattern() bool { return k.Site == "" || strings.Contains(k.Site, "*") }

// Segment is a part of a Cache with bounds of its own.
type Segment uint8

const (
	// Named contains the sites of the configuration.
	Named Segment = iota
	// Invented contains hosts that only clients name. They never evict a named site or delay
	// its fetches.
	Invented

	segments = 2
)

// String returns named or invented.
func (s Segment) String() string { return [...]string{"named", "invented"}[s] }

// Bounds limit one segment of a Cache.
type Bounds struct {
	Entries int // number of sites
	Bytes   int // estimated memory of the rules; equal files are counted once
	Reads   int // concurrent fetches
}

// Cache stores the state of many sites. Lookups take no lock. It is safe for concurrent use.
type Cache struct {
	now    func() time.Time
	derive func(*Robots) any
	index  cowmap.Large[Key, *Entry]

	mu   sync.Mutex // guards the fields below
	kept [segments]*segment
}

// segment is the data for the bounds of a segment.
type segment struct {
	bounds   Bounds
	order    queues
	texts    texts
	attempts int                    // running fetches
	fetching map[configuredSite]int // running fetches by configured site
	evicted  uint64
}

// NewCache returns a cache with the given bounds. now is the clock. derive computes
// [Version.Derived] for each file and can be nil.
func NewCache(named, invented Bounds, now func() time.Time, derive func(*Robots) any) *Cache {
	if derive == nil {
		derive = func(*Robots) any { return nil }
	}
	c := &Cache{now: now, derive: derive}
	for i, b := range [segments]Bounds{named, invented} {
		b.Entries, b.Reads = max(b.Entries, 1), max(b.Reads, 1)
		c.kept[i] = &segment{bounds: b, texts: texts{byHash: make(map[[sha256.Size]byte]*sharedText)}, fetching: make(map[configuredSite]int)}
	}
	return c
}

// Get returns the entry of a site, or nil. It takes no lock and does not allocate.
func (c *Cache) Get(key Key) *Entry {
	e, _ := c.index.Load(key)
	return e
}

// Entries returns all entries, in no order.
func (c *Cache) Entries() (entries []*Entry) {
	for _, e := range c.index.All() {
		entries = append(entries, e)
	}
	return entries
}

// Add returns the entry of a site, which it creates if necessary.
func (c *Cache) Add(key Key, s Segment) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.Get(key); e != nil {
		return e
	}
	kept := c.kept[s]
	switch {
	case kept.order.len() >= kept.bounds.Entries:
		c.evict(kept, kept.order.evict(kept.bounds.Entries))
	case kept.texts.bytes > kept.bounds.Bytes: // a single entry can exceed the bound
		c.evict(kept, kept.order.first())
	}
	e := &Entry{key: key, segment: s, cache: c, ref: new(Ref)}
	e.ref.entry.Store(e)
	e.queuedAt = c.now().Unix()
	e.used.Store(e.queuedAt)
	kept.order.add(e)
	c.index.Store(key, e)
	return e
}

// evict drops an entry that has left its queue. nil is ignored.
func (c *Cache) evict(kept *segment, e *Entry) {
	if e == nil {
		return
	}
	kept.evicted++
	c.index.Delete(e.key)
	e.ref.entry.Store(nil)
	kept.texts.releaseAll(e.state.Load())
}

// shrink reduces a segment to its bound in bytes. It evicts entries with the largest files
// first, so that a site with large or changing files evicts no other site.
func (c *Cache) shrink(kept *segment) {
	if kept.texts.bytes <= kept.bounds.Bytes {
		return
	}
	type sized struct {
		e    *Entry
		size int
	}
	var all []sized
	for e := range kept.order.all() {
		all = append(all, sized{e, kept.texts.sizeOf(e.state.Load())})
	}
	slices.SortFunc(all, func(a, b sized) int { return cmp.Compare(b.size, a.size) })
	for _, x := range all {
		if kept.texts.bytes <= kept.bounds.Bytes || kept.order.len() == 1 {
			return
		}
		kept.order.remove(x.e)
		c.evict(kept, x.e)
	}
}

// beginFetch reports whether an entry may be fetched now. Hosts that only clients name share
// the concurrent fetches fairly by configured site. A site whose origin hangs cannot use the
// share of others. Each site may always run one fetch.
func (c *Cache) beginFetch(e *Entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, site := c.kept[e.segment], e.key.configured()
	own, sharing := kept.fetching[site], len(kept.fetching)
	if own == 0 {
		sharing++
	}
	fair := e.segment == Named || own < max(1, kept.bounds.Reads/sharing)
	if kept.attempts >= kept.bounds.Reads && (own > 0 || e.segment == Named) || !fair {
		return false
	}
	kept.attempts++
	kept.fetching[site]++
	return true
}

func (c *Cache) endFetch(e *Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, site := c.kept[e.segment], e.key.configured()
	kept.attempts--
	if kept.fetching[site]--; kept.fetching[site] == 0 {
		delete(kept.fetching, site)
	}
}

// CacheStats are the counters of a segment.
type CacheStats struct {
	Entries int    // number of sites
	Bytes   int    // estimated memory of the rules
	Evicted uint64 // sites evicted since the start
}

// Stats returns the counts of a segment.
func (c *Cache) Stats(s Segment) CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.kept[s]
	return CacheStats{Entries: kept.order.len(), Bytes: kept.texts.bytes, Evicted: kept.evicted}
}
