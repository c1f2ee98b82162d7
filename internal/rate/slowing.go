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

// searchSlowing records which requests of a search engine were answered with 429, so that only few
// of them are. The zero value has slowed no request. Times are never 0. It is safe for concurrent
// use.
type searchSlowing struct {
	requests, slowed      requestWindow // requests in slowingWindow, slowed requests in slowedMemory
	beganAt, lastOverRate atomic.Int64  // first slowed request, and last request over the rate, of the current slowing
	// endedAt is the time of the last request over the rate after slowing reached its maximum
	// duration, or 0.
	endedAt atomic.Int64
}

// getOrAddSearchSlowing returns the record of slowed requests in a budget, and adds an empty record
// if necessary.
func (b *budget) getOrAddSearchSlowing() *searchSlowing {
	if s := b.searchSlowingState.Load(); s != nil {
		return s
	}
	b.searchSlowingState.CompareAndSwap(nil, new(searchSlowing))
	return b.searchSlowingState.Load()
}

// shouldSlow records a request and reports whether to answer it with 429. over is true for a
// request over the rate. ended is true if the slowing has just reached its maximum duration.
func (s *searchSlowing) shouldSlow(now time.Duration, over bool) (slow, ended bool) {
	now = max(now, 1)
	part := s.requests.addRequest(now, slowingWindow)
	if !over {
		return false, false
	}
	if before := s.endedAt.Load(); before != 0 {
		if now-time.Duration(before) < slowingWindow {
			s.endedAt.CompareAndSwap(before, int64(now))
			return false, false
		}
		s.beganAt.Store(0)
		s.endedAt.Store(0)
	}
	last, began := time.Duration(s.lastOverRate.Load()), time.Duration(s.beganAt.Load()) // last is read first, because a pause resets began before last changes
	if began != 0 && now-last > slowingGap {
		began = 0
		s.beganAt.Store(0)
	}
	s.lastOverRate.Store(int64(now))
	switch {
	case began != 0 && now-began >= slowingWindow:
		return false, s.endedAt.CompareAndSwap(0, int64(now))
	case (s.slowed.sumUntilPart(partNumber(now, slowedMemory))+1)*slowingShare > s.requests.sumUntilPart(part):
		return false, false
	case began == 0:
		s.beganAt.Store(int64(now))
	}
	s.slowed.addRequest(now, slowedMemory)
	return true, false
}
