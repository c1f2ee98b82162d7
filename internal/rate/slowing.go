package rate

import (
	"sync/atomic"
	"time"
)

// A search engine that receives 429 responses for days removes pages from its index. So only few of
// its requests are slowed, and for a limited time.
const (
	slowingWindow = 24 * time.Hour // window for the share of slowed requests, and maximum duration of slowing
	slowingShare  = 20             // at most 1 of this many requests is slowed
	slowingGap    = time.Hour      // duration without requests over the rate that ends slowing

	// slowedMemory is the length of the window for slowed requests. The sum over this window covers
	// at least slowingWindow.
	slowedMemory = slowingWindow * windowParts / (windowParts - 1)
)

// searchSlowing is the slowing of a search engine. The zero value has slowed no request. Times are
// never 0. It is safe for concurrent use.
type searchSlowing struct {
	requests, slowed window       // requests in slowingWindow, slowed requests in slowedMemory
	began, last      atomic.Int64 // first slowed request, and last request over the rate, of the current slowing
	// ended is the time of the last request over the rate after slowing reached its maximum
	// duration, or 0.
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

// shouldSlow records a request and reports whether to slow this request. over is true for a request
// over the rate. ended is true if slowing just reached its maximum duration.
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
	last, began := time.Duration(s.last.Load()), time.Duration(s.began.Load()) // last is read first, because a pause resets began before last changes
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
