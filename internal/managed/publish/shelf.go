package publish

import (
	"crypto/sha256"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// shelf caches the pages of named sites, or of hosts that only clients name. The latter must not
// evict pages of named sites.
type shelf struct {
	pages  *simplelru.LRU[pageKey, made]
	making map[pageKey]func() made           // pages that are being composed
	bytes  int                               // of all pages
	most   int                               // maximum bytes
	asked  *simplelru.LRU[policy.Key, *Page] // last page of each site; nil for the key of a base
}

// pageKey identifies a page by its sources.
type pageKey struct {
	base   [sha256.Size]byte
	period managed.Period // zero for [managed.Staging]
	host   string         // "" if the page is the same for all hosts
	since  int64          // start of the schedule in nanoseconds, since the page has a date
}

// made is a page or an error.
type made struct {
	page *Page
	err  error
}

func (m made) size() int {
	if m.page == nil {
		return 0
	}
	return len(m.page.text)
}

// newShelf returns a shelf with a maximum number of pages and of bytes.
func newShelf(pages, bytes int) *shelf {
	s := &shelf{making: make(map[pageKey]func() made), most: bytes}
	s.pages, _ = simplelru.NewLRU(pages, func(_ pageKey, m made) { s.bytes -= m.size() }) // fails only for a size below 1
	s.asked, _ = simplelru.NewLRU[policy.Key, *Page](pages, nil)
	return s
}

// add adds a page and evicts the least recently used pages.
func (s *shelf) add(key pageKey, m made) {
	s.bytes += m.size()
	s.pages.Add(key, m)
	for s.bytes > s.most && s.pages.Len() > 1 {
		s.pages.RemoveOldest()
	}
}

// meet returns the last page of a site, or nil. first reports the first call for the key.
func (s *shelf) meet(key policy.Key) (last *Page, first bool) {
	last, known := s.asked.Get(key)
	if !known {
		s.asked.Add(key, nil)
	}
	return last, !known
}
