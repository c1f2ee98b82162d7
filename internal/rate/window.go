package rate

import (
	"sync/atomic"
	"time"
)

// windowParts is the number of parts into which a window of time is divided. A sum covers the
// current part and the nine parts before, so that no request is counted for longer than the length
// of the window.
const windowParts = 10

// requestWindow counts requests in a sliding window, which has windowParts parts. Each part is an
// integer with the number of the part in the upper half and the number of requests in the lower
// half. The zero window has no requests. It is safe for concurrent use.
type requestWindow [windowParts]atomic.Uint64

// partNumber returns the number of the part that contains now, in a window of the given length.
func partNumber(now, length time.Duration) uint64 {
	return uint64(now) / uint64(max(length/windowParts, 1))
}

// addRequest counts a request and returns the number of its part.
func (w *requestWindow) addRequest(now, length time.Duration) (part uint64) {
	part = partNumber(now, length)
	counter := &w[part%windowParts]
	for {
		old := counter.Load()
		next := part<<32 + 1
		switch old >> 32 {
		case part:
			next = old + 1
		case part + windowParts:
			return part // A later part has replaced the part of this request.
		}
		if counter.CompareAndSwap(old, next) {
			return part
		}
	}
}

// subtractRequest removes a request from the count of a part, unless a later part has replaced this
// part.
func (w *requestWindow) subtractRequest(part uint64) {
	counter := &w[part%windowParts]
	for old := counter.Load(); old>>32 == part && uint32(old) > 0; old = counter.Load() {
		if counter.CompareAndSwap(old, old-1) {
			return
		}
	}
}

// sumUntilPart returns the number of requests in a part and in the earlier parts of the window.
func (w *requestWindow) sumUntilPart(part uint64) (sum int) {
	for i := range w {
		if word := w[i].Load(); part-word>>32 < windowParts {
			sum += int(uint32(word))
		}
	}
	return sum
}
