package rate

import (
	"sync/atomic"
	"time"
)

// A search engine that is answered 429 for days takes pages out of its index, so it is
// slowed seldom, and not for long.
const (
	slowingWindow = 24 * time.Hour // over which shares are counted, and how long slowing lasts at most
	slowingShare  = 20             // of so many requests one may be slowed
	slowingGap    = time.Hour      // in which none is one too many: what comes then is another slowing

	// slowedMemory is for how long those that were slowed are counted: of it a window looks
	// at a day and no less, of slowingDay at no more.
	slowedMemory = slowingWindow * windowParts / (windowParts - 1)
)

// searchSlowing is how often a search engine was slowed. Several goroutines may use it at
// once. The zero slowing has slowed nothing. Times are never 0.
type searchSlowing struct {
	requests, slowed window       // in slowingDay and slowedCounts
	began, last      atomic.Int64 // when the first was slowed and the last was one too many, without a pause between
	// ended is when a request was one too many last after slowing has ended by itself, 0
	// while it has not.
	ended atomic.Int64
}

// searchSlowing returns the slowing of a budget.
func (b *budget) searchSlowing() *searchSlowing {
	if s := b.slowing.Load(); s != nil {
		return s
	}
	b.slowing.CompareAndSwap(nil, new(searchSlowing))
	return b.slowing.Load()
}

// shouldSlow counts a request, which is one too many or not, and tells whether it is to be
// slowed. ended says that slowing has ended by itself just now.
func (s *searchSlowing) shouldSlow(now time.Duration, over bool) (slow, ended bool) {
	now = max(now, 1)
	part := s.requests.add(now, slowingWindow)
	if !over {
		return false, false
	}
	if before := s.ended.Load(); before != 0 {
		if now-time.Duration(before) < slowingWindow {
			s.ended.CompareAndSwap(before, int64(now))
			return false, false
		}
		s.began.Store(0)
		s.ended.Store(0)
	}
	last, began := time.Duration(s.last.Load()), time.Duration(s.began.Load()) // in this order: after a pause the latter goes first
	if began != 0 && now-last > slowingGap {
		began = 0
		s.began.Store(0)
	}
	s.last.Store(int64(now))
	switch {
	case began != 0 && now-began >= slowingWindow:
		return false, s.ended.CompareAndSwap(0, int64(now))
	case (s.slowed.sum(partOf(now, slowedMemory))+1)*slowingShare > s.requests.sum(part):
		return false, false
	case began == 0:
		s.began.Store(int64(now))
	}
	s.slowed.add(now, slowedMemory)
	return true, false
}
