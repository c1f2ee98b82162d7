package publish

import (
	"crypto/sha256"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// pageCache caches the pages of named sites, or of hosts that only clients name. The latter must not
// evict pages of named sites.
type pageCache struct {
	mu        sync.Mutex
	pages     *simplelru.LRU[pageKey, *cachedPage]
	bytes     int // of all pages
	maxBytes  int
	compose   func(*policy.Version, hostPeriod) pageResult
	lastPages *simplelru.LRU[policy.Key, *Page] // last page of each site; nil for the key of a base
}

// pageKey identifies a page by its sources.
type pageKey struct {
	base   [sha256.Size]byte
	period managed.Period // zero for [managed.Staging]
	host   string         // "" if the page is the same for all hosts
	since  int64          // start of the schedule in nanoseconds, since the page has a date
}

// cachedPage is a page that is composed by the first call of result.
type cachedPage struct {
	result func() pageResult
	size   int // counted bytes
}

// pageResult is a page or an error.
type pageResult struct {
	page *Page
	err  error
}

// newPageCache returns a cache with a maximum number of pages and of bytes.
func newPageCache(pages, bytes int, compose func(base *policy.Version, at hostPeriod) pageResult) *pageCache {
	c := &pageCache{maxBytes: bytes, compose: compose}
	c.pages, _ = simplelru.NewLRU(pages, func(_ pageKey, p *cachedPage) { c.bytes -= p.size }) // fails only for a size below 1
	c.lastPages, _ = simplelru.NewLRU[policy.Key, *Page](pages, nil)
	return c
}

// get returns the cached page of a base, or composes it. Concurrent calls for a page compose it once. They do
// not wait for other pages.
func (c *pageCache) get(base *policy.Version, at hostPeriod) (m pageResult, isCached bool) {
	key := pageKey{since: at.since.UnixNano()}
	if base != nil {
		key.base = base.Hash
	}
	if !at.staging {
		if key.period = at.period; at.period.DependsOnHost() {
			key.host = at.host
		}
	}
	c.mu.Lock()
	p, isCached := c.pages.Get(key)
	if !isCached {
		p = &cachedPage{result: sync.OnceValue(func() pageResult { return c.compose(base, at) })}
		c.pages.Add(key, p)
	}
	c.mu.Unlock()
	m = p.result()
	if isCached || m.page == nil {
		return m, isCached
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if present, _ := c.pages.Peek(key); present == p {
		p.size = len(m.page.text)
		c.bytes += p.size
		for c.bytes > c.maxBytes && c.pages.Len() > 1 {
			c.pages.RemoveOldest()
		}
	}
	return m, false
}

// purge removes the pages, but not the last page of each site.
func (c *pageCache) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages.Purge()
}

// lastPage returns the last page of a site, or nil. first reports the first call for the key.
func (c *pageCache) lastPage(key policy.Key) (last *Page, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.lastPages.Get(key)
	if !known {
		c.lastPages.Add(key, nil)
	}
	return last, !known
}

// setLastPage records the page that a site receives.
func (c *pageCache) setLastPage(key policy.Key, page *Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastPages.Add(key, page)
}

// sites returns the keys of the calls of lastPage.
func (c *pageCache) sites() []policy.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastPages.Keys()
}
