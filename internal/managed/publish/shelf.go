package publish

import (
	"crypto/sha256"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// shelf has the pages of sites that the configuration names, or of hosts that only
// clients name: however many these are, they evict none of the former.
type shelf struct {
	pages  *simplelru.LRU[pageKey, made]
	making map[pageKey]func() made           // by requests under way
	bytes  int                               // of the texts of pages
	most   int                               // of bytes
	asked  *simplelru.LRU[policy.Key, *Page] // sites with what they were served last, and bases that this configuration has looked at
}

// pageKey is what a text is made of.
type pageKey struct {
	base   [sha256.Size]byte
	period managed.Period // zero for [managed.Staging]
	host   string         // "" if the text is the same for all
	since  int64          // when the schedule came, in nanoseconds: the page has a date
}

// made is a page, or why there is none.
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

// newShelf returns a shelf for so many pages with so many bytes of text.
func newShelf(pages, bytes int) *shelf {
	s := &shelf{making: make(map[pageKey]func() made), most: bytes}
	s.pages, _ = simplelru.NewLRU(pages, func(_ pageKey, m made) { s.bytes -= m.size() }) // fails for no size above 0
	s.asked, _ = simplelru.NewLRU[policy.Key, *Page](pages, nil)
	return s
}

// add puts a page onto the shelf, and takes down what was not asked for longest.
func (s *shelf) add(key pageKey, m made) {
	s.bytes += m.size()
	s.pages.Add(key, m)
	for s.bytes > s.most && s.pages.Len() > 1 {
		s.pages.RemoveOldest()
	}
}

// meet returns what a site was served last, nil if nothing or if it is where a base
// comes from, and whether it is met for the first time.
func (s *shelf) meet(key policy.Key) (last *Page, first bool) {
	last, known := s.asked.Get(key)
	if !known {
		s.asked.Add(key, nil)
	}
	return last, !known
}
