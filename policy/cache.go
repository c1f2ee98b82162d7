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

// Key identifies the robots.txt of an Entry. The JSON names are part of stored data.
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
	// Host is the canonical host. It includes the port, except for the default port.
	Host string `json:"host,omitempty"`
	// ForwardedHost is the host that a trusted proxy forwards, if different from Host. With a
	// Source, ForwardedHost is a host that only clients name and that has its own source.
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

// UniqueString returns a unique string for a key. Stored data depend on the string, so the format
// must not change.
func (k Key) UniqueString() string {
	return fmt.Sprintf("%q %q %q %t %q %q", k.Source, k.Server, k.Site, k.Secure, k.Host, k.ForwardedHost)
}

// configuredSite is a site of the configuration, which can have many hosts.
type configuredSite struct {
	server, site string
	secure       bool
}

// configuredSite returns the configured site of a host.
func (k Key) configuredSite() configuredSite { return configuredSite{k.Server, k.Site, k.Secure} }

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
	if k.ForwardedHost != "" || k.Source == "" && k.hasHostPattern() {
		return UnknownHosts
	}
	return ConfiguredHosts
}

// hasHostPattern reports whether the site is a wildcard or a catch-all.
func (k Key) hasHostPattern() bool { return k.Site == "" || strings.Contains(k.Site, "*") }

// Segment is a part of a Cache with bounds of its own.
type Segment uint8

const (
	// ConfiguredHosts contains the sites of the configuration.
	ConfiguredHosts Segment = iota
	// UnknownHosts contains hosts that only clients name. They never evict a configured site or
	// delay its fetches.
	UnknownHosts

	numSegments = 2
)

// String returns the label of a segment in metrics: named or invented.
func (s Segment) String() string { return [...]string{"named", "invented"}[s] }

// Bounds limit one segment of a Cache.
type Bounds struct {
	Entries           int // number of sites
	Bytes             int // estimated memory of the rules; equal files are counted once
	ConcurrentFetches int // concurrent fetches
}

// Cache stores the state of many sites. Lookups take no lock. A Cache is safe for concurrent use.
type Cache struct {
	now    func() time.Time
	derive func(*Robots) any
	index  cowmap.LargeMap[Key, *Entry]

	mu       sync.Mutex // guards the fields below
	segments [numSegments]*segmentData
}

// segmentData is the data for the bounds of a segment.
type segmentData struct {
	bounds         Bounds
	queues         evictionQueues
	versions       sharedVersions
	runningFetches int                    // running fetches
	fetchesBySite  map[configuredSite]int // running fetches by configured site
	evicted        uint64
}

// NewCache returns a cache with the given bounds. now is the clock. derive computes
// [Version.Derived] for each file and can be nil.
func NewCache(configured, unknown Bounds, now func() time.Time, derive func(*Robots) any) *Cache {
	if derive == nil {
		derive = func(*Robots) any { return nil }
	}
	c := &Cache{now: now, derive: derive}
	for i, b := range [numSegments]Bounds{configured, unknown} {
		b.Entries, b.ConcurrentFetches = max(b.Entries, 1), max(b.ConcurrentFetches, 1)
		c.segments[i] = &segmentData{bounds: b, versions: sharedVersions{byHash: make(map[[sha256.Size]byte]*sharedVersion)}, fetchesBySite: make(map[configuredSite]int)}
	}
	return c
}

// Get returns the entry of a site, or nil. Get takes no lock and does not allocate.
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

// GetOrCreate returns the entry of a site. It creates a missing entry.
func (c *Cache) GetOrCreate(key Key, s Segment) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.Get(key); e != nil {
		return e
	}
	seg := c.segments[s]
	switch {
	case seg.queues.len() >= seg.bounds.Entries:
		c.evict(seg, seg.queues.removeLeastUsed(seg.bounds.Entries))
	case seg.versions.bytes > seg.bounds.Bytes: // a single entry can exceed the bound
		c.evict(seg, seg.queues.removeFirst())
	}
	e := &Entry{key: key, segment: s, cache: c}
	e.lastUsedWhenQueued = c.now().Unix()
	e.lastUsed.Store(e.lastUsedWhenQueued)
	seg.queues.add(e)
	c.index.Store(key, e)
	return e
}

// evict drops an entry that has left its queue. nil is ignored.
func (c *Cache) evict(seg *segmentData, e *Entry) {
	if e == nil {
		return
	}
	seg.evicted++
	c.index.Delete(e.key)
	seg.versions.releaseAll(e.state.Load())
}

// shrinkToBytes reduces a segment to its bound in bytes. shrinkToBytes evicts entries with the
// largest files first, so that a site with large or changing files evicts no other site.
func (c *Cache) shrinkToBytes(seg *segmentData) {
	if seg.versions.bytes <= seg.bounds.Bytes {
		return
	}
	type sizedEntry struct {
		e    *Entry
		size int
	}
	var largestFirst []sizedEntry
	for e := range seg.queues.allEntries() {
		largestFirst = append(largestFirst, sizedEntry{e, seg.versions.sizeOf(e.state.Load())})
	}
	slices.SortFunc(largestFirst, func(a, b sizedEntry) int { return cmp.Compare(b.size, a.size) })
	for _, candidate := range largestFirst {
		if seg.versions.bytes <= seg.bounds.Bytes || seg.queues.len() == 1 {
			return
		}
		seg.queues.remove(candidate.e)
		c.evict(seg, candidate.e)
	}
}

// beginFetch reports whether an entry may be fetched now, and counts the fetch until endFetch. The
// configured sites share the concurrent fetches of their segment in the order of their requests. The
// hosts that only clients name share the concurrent fetches of their segment fairly by configured
// site, so that a site whose origin hangs cannot use the share of other sites. Of these sites, each
// may always run one fetch.
func (c *Cache) beginFetch(e *Entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	seg, site := c.segments[e.segment], e.key.configuredSite()
	isFull := seg.runningFetches >= seg.bounds.ConcurrentFetches
	if e.segment == ConfiguredHosts {
		if isFull {
			return false
		}
	} else if n := seg.fetchesBySite[site]; n > 0 && (isFull || n >= seg.bounds.ConcurrentFetches/len(seg.fetchesBySite)) {
		return false
	}
	seg.runningFetches++
	seg.fetchesBySite[site]++
	return true
}

func (c *Cache) endFetch(e *Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seg, site := c.segments[e.segment], e.key.configuredSite()
	seg.runningFetches--
	if seg.fetchesBySite[site]--; seg.fetchesBySite[site] == 0 {
		delete(seg.fetchesBySite, site)
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
	seg := c.segments[s]
	return CacheStats{Entries: seg.queues.len(), Bytes: seg.versions.bytes, Evicted: seg.evicted}
}
