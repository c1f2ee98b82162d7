package rate

import (
	"sync/atomic"
	"time"
)

// windowParts is into how many parts a window is cut. The current part and those before it
// are counted, so that between nine tenths of a window and a whole one is looked at:
// nothing counts for longer than the rule says.
const windowParts = 10

// window counts requests over the last time. Each part has a word: in its upper half
// which part it is, in the lower one how many there were. Several goroutines may use
// a window at once. The zero window has counted nothing.
type window [windowParts]atomic.Uint64

// partOf returns which part of a window of this length a time is in.
func partOf(now, length time.Duration) uint64 {
	return uint64(now) / uint64(max(length/windowParts, 1))
}

// add counts one now. It returns in which part that is.
func (w *window) add(now, length time.Duration) (part uint64) {
	part = partOf(now, length)
	word := &w[part%windowParts]
	for {
		old := word.Load()
		next := part<<32 + 1
		switch old >> 32 {
		case part:
			next = old + 1
		case part + windowParts:
			return part // it comes late, and its part is gone
		}
		if word.CompareAndSwap(old, next) {
			return part
		}
	}
}

// drop takes back one that was counted in a part, unless that is gone.
func (w *window) drop(part uint64) {
	word := &w[part%windowParts]
	for old := word.Load(); old>>32 == part && uint32(old) > 0; old = word.Load() {
		if word.CompareAndSwap(old, old-1) {
			return
		}
	}
}

// sum returns how many there are in a part and those before it.
func (w *window) sum(part uint64) (seen int) {
	for i := range w {
		if word := w[i].Load(); part-word>>32 < windowParts {
			seen += int(uint32(word))
		}
	}
	return seen
}
