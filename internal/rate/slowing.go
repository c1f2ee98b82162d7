package rate

import (
	"sync/atomic"
	"time"
)

// A search engine that receives 429 responses for days removes pages from its index. So the guard
// slows only a few of its requests, for a limited time.
const (
	// slowingWindow is the maximum duration of slowing, and the window in which requests are
	// counted. After the maximum duration, slowing starts again only after slowingWindow within the
	// rate.
	slowingWindow        = 24 * time.Hour
	minRequestsPerSlowed = 20        // At most one of this many requests is slowed.
	maxPauseInSlowing    = time.Hour // Slowing ends after this time without a request over the rate.

	// slowedWindow is the length of the window for slowed requests. The sum over this window covers
	// at least slowingWindow.
	slowedWindow = slowingWindow * windowParts / (windowParts - 1)
)

// searchSlowing counts the requests of a search engine and those answered with 429 (slowed), so
// that only a few get 429. The zero value has no requests. A time of 0 is unset. A searchSlowing is
// safe for concurrent use.
type searchSlowing struct {
	// requests counts the requests in slowingWindow, and slowed the slowed requests in slowedWindow.
	requests, slowed requestWindow
	// These are the times of the first slowed request, and of the last request over the rate, in the
	// current slowing.
	beganAt, lastOverRateAt atomic.Int64
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
	// lastOverRateAt is read first. After a pause, beganAt is reset before lastOverRateAt changes.
	last, began := time.Duration(s.lastOverRateAt.Load()), time.Duration(s.beganAt.Load())
	if began != 0 && now-last > maxPauseInSlowing {
		began = 0
		s.beganAt.Store(0)
	}
	s.lastOverRateAt.Store(int64(now))
	switch {
	case began != 0 && now-began >= slowingWindow:
		return false, s.endedAt.CompareAndSwap(0, int64(now))
	case (s.slowed.sumUntilPart(partNumber(now, slowedWindow))+1)*minRequestsPerSlowed > s.requests.sumUntilPart(part):
		return false, false
	case began == 0:
		s.beganAt.Store(int64(now))
	}
	s.slowed.addRequest(now, slowedWindow)
	return true, false
}
