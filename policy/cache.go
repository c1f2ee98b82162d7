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
	// Source is the URL or the file name of the rules, or "" if the site's own server serves them. All
	// configured sites with the same source share one Entry, whose Key has only the Source. The Key
	// of a robots.txt on trial also has the Host.
	Source string `json:"source,omitempty"`
	// Server has the listen addresses of the server, joined by commas, if another server has a guard
	// for the same host. Otherwise it is "".
	Server string `json:"server,omitempty"`
	// Site is the host pattern of the site in the configuration: a host, a wildcard such as
	// *.example.com, or "" for any host.
	Site string `json:"site,omitempty"`
	// IsHTTPS reports whether the scheme is https.
	IsHTTPS bool `json:"secure,omitempty"`
	// Host is the host in canonical form, with the port unless it is the default port of the
	// scheme.
	Host string `json:"host,omitempty"`
	// ForwardedHost is the host in the header of a trusted proxy, if it differs from Host. In a Key
	// with a Source, ForwardedHost is a host that the configuration does not name, so that each
	// such host has its own Entry.
	ForwardedHost string `json:"forwarded,omitempty"`
}

// String returns the source, or the scheme and host as a URL without a path.
func (k Key) String() string {
	switch {
	case k.Source != "":
		return k.Source
	case k.IsHTTPS:
		return "https://" + k.Host
	}
	return "http://" + k.Host
}

// UniqueString returns a string that differs for different keys. The names of stored data depend on
// the string, so the format must not change.
func (k Key) UniqueString() string {
	return fmt.Sprintf("%q %q %q %t %q %q", k.Source, k.Server, k.Site, k.IsHTTPS, k.Host, k.ForwardedHost)
}

// configuredSite identifies a site of the configuration. A site with a wildcard has many hosts, and
// each host has a Key.
type configuredSite struct {
	server, site string
	isHTTPS      bool
}

// configuredSite returns the site of the configuration that the key's host belongs to.
func (k Key) configuredSite() configuredSite { return configuredSite{k.Server, k.Site, k.IsHTTPS} }

// SourceKind returns where the robots.txt comes from: "server" for the site's own server, "url" or
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

// IsFile reports whether the rules come from a file on this machine. Other machines with the same
// key can have another file.
func (k Key) IsFile() bool {
	return k.Source != "" && !strings.HasPrefix(k.Source, "https://") && !strings.HasPrefix(k.Source, "http://")
}

// Segment returns the segment of the cache for the key: UnknownHosts for a host that only a
// wildcard, a catch-all site or a forwarded host names, else ConfiguredHosts.
func (k Key) Segment() Segment {
	if k.ForwardedHost != "" || k.Source == "" && k.hasHostPattern() {
		return UnknownHosts
	}
	return ConfiguredHosts
}

// hasHostPattern reports whether Site is a wildcard or "", so that clients choose the host.
func (k Key) hasHostPattern() bool { return k.Site == "" || strings.Contains(k.Site, "*") }

// Segment is one of the two parts of a Cache. Each part has its own bounds.
type Segment uint8

const (
	// ConfiguredHosts contains the sites of the configuration.
	ConfiguredHosts Segment = iota
	// UnknownHosts contains the hosts that clients choose: hosts of a wildcard, of a site for any
	// host, and forwarded hosts. They never evict a configured site or delay its fetches.
	UnknownHosts

	segmentCount = 2
)

// String returns the label of the segment in metrics: "named" for ConfiguredHosts, "invented" for
// UnknownHosts.
func (s Segment) String() string { return [...]string{"named", "invented"}[s] }

// Bounds are the maximum sizes of one segment of a Cache.
type Bounds struct {
	Entries           int // Entries is the number of sites.
	Bytes             int // Bytes is the estimated memory of all files. A file that several sites have counts once.
	ConcurrentFetches int // ConcurrentFetches is the number of concurrent fetches. In UnknownHosts, each configured site may always run one fetch.
}

// Cache maps the Key of a site to its Entry. Get and Entries take no lock. A Cache is safe for
// concurrent use.
type Cache struct {
	now            func() time.Time
	computeDerived func(*Robots) any
	index          cowmap.LargeMap[Key, *Entry]

	mu       sync.Mutex // This mutex guards the fields below.
	segments [segmentCount]*segmentData
}

// segmentData has the entries of a segment in their order of eviction, and the counts that Bounds
// limit.
type segmentData struct {
	bounds         Bounds
	queues         evictionQueues
	versions       sharedVersions
	runningFetches int                    // runningFetches is the number of running fetches.
	fetchesBySite  map[configuredSite]int // The value is the number of running fetches of a site.
	evictedCount   uint64
}

// NewCache returns an empty cache with the bounds of both segments. now returns the current time.
// derive computes [Version.Derived] from each file and can be nil.
func NewCache(configured, unknown Bounds, now func() time.Time, derive func(*Robots) any) *Cache {
	if derive == nil {
		derive = func(*Robots) any { return nil }
	}
	c := &Cache{now: now, computeDerived: derive}
	for i, b := range [segmentCount]Bounds{configured, unknown} {
		b.Entries, b.ConcurrentFetches = max(b.Entries, 1), max(b.ConcurrentFetches, 1)
		c.segments[i] = &segmentData{bounds: b, versions: sharedVersions{byHash: make(map[[sha256.Size]byte]*sharedVersion)}, fetchesBySite: make(map[configuredSite]int)}
	}
	return c
}

// Get returns the entry of a key, or nil if the cache has none. Get takes no lock and does not
// allocate.
func (c *Cache) Get(key Key) *Entry {
	e, _ := c.index.Load(key)
	return e
}

// Entries returns the entries of both segments, in no order.
func (c *Cache) Entries() (entries []*Entry) {
	for _, e := range c.index.All() {
		entries = append(entries, e)
	}
	return entries
}

// GetOrCreate returns the entry of a key. If the cache has none, GetOrCreate adds an entry without
// a state to the segment, and evicts another entry of a full segment.
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
	case seg.versions.bytes > seg.bounds.Bytes: // A single entry can exceed the bound.
		c.evict(seg, seg.queues.removeFirst())
	}
	e := &Entry{key: key, segment: s, cache: c}
	e.lastUsedWhenQueued = c.now().Unix()
	e.lastUsed.Store(e.lastUsedWhenQueued)
	seg.queues.add(e)
	c.index.Store(key, e)
	return e
}

// evict deletes an entry from the cache. The caller has removed the entry from its queue. evict
// ignores nil.
func (c *Cache) evict(seg *segmentData, e *Entry) {
	if e == nil {
		return
	}
	seg.evictedCount++
	c.index.Delete(e.key)
	seg.versions.releaseAll(e.state.Load())
}

// shrinkToBytes evicts entries until a segment is within its bound in bytes or has one entry.
// Entries with the largest files are evicted first, so that a site with large or changing files
// evicts no other site.
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

// beginFetch reports whether an entry may be fetched now, and counts the fetch until endFetch. In
// the segment ConfiguredHosts, a fetch may begin while fewer than ConcurrentFetches run. In the
// segment UnknownHosts, each configured site has a fair share of the concurrent fetches, and at
// least one, so that a site whose origin hangs cannot use the share of other sites.
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

// endFetch ends the count of a fetch by beginFetch.
func (c *Cache) endFetch(e *Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seg, site := c.segments[e.segment], e.key.configuredSite()
	seg.runningFetches--
	if seg.fetchesBySite[site]--; seg.fetchesBySite[site] == 0 {
		delete(seg.fetchesBySite, site)
	}
}

// CacheStats describes the content of a segment.
type CacheStats struct {
	Entries int    // Entries is the number of sites.
	Bytes   int    // Bytes is the estimated memory of all files, as in Bounds.
	Evicted uint64 // Evicted is the number of entries evicted since the start.
}

// Stats returns the current numbers of entries, bytes and evictions of a segment.
func (c *Cache) Stats(s Segment) CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	seg := c.segments[s]
	return CacheStats{Entries: seg.queues.len(), Bytes: seg.versions.bytes, Evicted: seg.evictedCount}
}
