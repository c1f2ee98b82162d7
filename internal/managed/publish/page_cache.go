package publish

import (
	"crypto/sha256"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// pageCache caches the pages of named sites, or of hosts that only clients name. The latter must not
// evict pages of named sites.
type pageCache struct {
	pages     *simplelru.LRU[pageKey, pageResult]
	composing map[pageKey]func() pageResult     // pages that are being composed
	bytes     int                               // of all pages
	maxBytes  int                               // maximum bytes
	lastPages *simplelru.LRU[policy.Key, *Page] // last page of each site; nil for the key of a base
}

// pageKey identifies a page by its sources.
type pageKey struct {
	base   [sha256.Size]byte
	period managed.Period // zero for [managed.Staging]
	host   string         // "" if the page is the same for all hosts
	since  int64          // start of the schedule in nanoseconds, since the page has a date
}

// pageResult is a page or an error.
type pageResult struct {
	page *Page
	err  error
}

func (m pageResult) size() int {
	if m.page == nil {
		return 0
	}
	return len(m.page.text)
}

// newPageCache returns a cache with a maximum number of pages and of bytes.
func newPageCache(pages, bytes int) *pageCache {
	s := &pageCache{composing: make(map[pageKey]func() pageResult), maxBytes: bytes}
	s.pages, _ = simplelru.NewLRU(pages, func(_ pageKey, m pageResult) { s.bytes -= m.size() }) // fails only for a size below 1
	s.lastPages, _ = simplelru.NewLRU[policy.Key, *Page](pages, nil)
	return s
}

// add adds a page and evicts the least recently used pages.
func (s *pageCache) add(key pageKey, m pageResult) {
	s.bytes += m.size()
	s.pages.Add(key, m)
	for s.bytes > s.maxBytes && s.pages.Len() > 1 {
		s.pages.RemoveOldest()
	}
}

// lastPage returns the last page of a site, or nil. first reports the first call for the key.
func (s *pageCache) lastPage(key policy.Key) (last *Page, first bool) {
	last, known := s.lastPages.Get(key)
	if !known {
		s.lastPages.Add(key, nil)
	}
	return last, !known
}
