package policy

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Entry is the place of one site in a Cache.
type Entry struct {
	key      Key
	segment  Segment
	cache    *Cache
	standing atomic.Pointer[Standing]
	used     atomic.Int64 // Unix seconds of the last use that was noted
	uses     atomic.Int32 // seconds in which it was used, as far as they count
	doubted  atomic.Bool  // the site was seen to answer otherwise
	placed   int64        // used when the entry was last put in front; guarded by Cache.mu
	seen     atomic.Pointer[[]seenText]
	proven   bool // it is in queues.proven; guarded by Cache.mu

	mu      sync.Mutex
	reading chan struct{} // closed when the attempt under way ends; nil if none is
	again   bool          // make the entry due when that has ended
}

// irreplaceable reports whether an eviction would be noticed: crawlers may still
// follow an earlier version, or the file cannot be read now.
func (e *Entry) irreplaceable(now time.Time) bool {
	s := e.standing.Load()
	return s != nil && s.Good != nil && (s.Failures > 0 || len(s.Held(now, time.Time{}, MaxAge)) > 0)
}

// Use notes that the entry was used now, which delays its eviction.
func (e *Entry) Use(now time.Time) {
	// One write a second is plenty, and keeps processors from fighting over
	// the cache line.
	seconds := now.Unix()
	if before := e.used.Load(); seconds <= before || !e.used.CompareAndSwap(before, seconds) {
		return
	}
	if e.uses.Load() < maxUses {
		e.uses.Add(1)
	}
}

// maxUses is how many seconds of use count.
const maxUses = 1 << 10

// ProvenUses is in how many seconds a host that only clients name was used if it
// is worth keeping when the process ends.
const ProvenUses = 3

// Uses tells in how many seconds the entry was used, as far as they count. It is
// for telling hosts in use from those that were invented once.
func (e *Entry) Uses() int { return int(e.uses.Load()) }

// Key returns whose entry it is.
func (e *Entry) Key() Key { return e.key }

// Segment returns the part of the cache that the entry is in.
func (e *Entry) Segment() Segment { return e.segment }

// Hasten makes the entry due, also if it waits after a failure. If it is being
// read, it is due when that has ended, for what is read may be older than the
// wish to have it read.
func (e *Entry) Hasten() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.again = e.reading != nil; !e.again {
		e.hasten()
	}
}

// hasten makes the entry due. e.mu must be held, and nobody may be reading.
func (e *Entry) hasten() {
	for s := e.standing.Load(); s != nil; s = e.standing.Load() {
		hastened := *s
		hastened.Due = e.cache.now()
		if e.standing.CompareAndSwap(s, &hastened) { // not over what is restored meanwhile
			return
		}
	}
}

// Standing returns what is known of the site, nil before the first answer.
func (e *Entry) Standing() *Standing { return e.standing.Load() }

// Due reports whether the robots.txt should be read again.
func (e *Entry) Due(now time.Time) bool {
	s := e.standing.Load()
	return s == nil || !now.Before(s.Due) || e.Doubted() && s.Failures == 0
}

// doubtInterval is how soon after a reading the copy may be doubted again. A
// site that answers everybody differently is not read all the time for that.
const doubtInterval = 10 * time.Second

// Doubt says that the site was seen to answer with another robots.txt than our
// copy, which makes the entry due. Until it is read the copy holds: what one
// client is served opens nothing for others.
func (e *Entry) Doubt(now time.Time) {
	s := e.standing.Load()
	if s == nil || s.Good == nil || now.Sub(s.Good.LastRead) < doubtInterval {
		return
	}
	e.doubted.Store(true)
}

// Doubted reports whether the site was seen to answer otherwise and was not read
// since.
func (e *Entry) Doubted() bool { return e.doubted.Load() }

// Refresh reads the robots.txt if it is due, in a goroutine that ends soon
// after read returns; at most one such goroutine runs for an entry, and a
// bounded number for the segment. A good answer holds as long as f
// says. settled, if not
// nil, is told what was known before and what is known now.
//
// Refresh returns a channel that is closed when the attempt under way has
// ended, nil if there is none: the entry is not due, or too many others are
// being read.
func (e *Entry) Refresh(f Freshness, read func() Answer, settled func(before, after Standing)) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reading != nil {
		return e.reading
	}
	if !e.Due(e.cache.now()) || !e.cache.beginRead(e) {
		return nil
	}
	done := make(chan struct{})
	e.reading = done
	go func() {
		before, after := e.settle(read(), f)
		e.cache.endRead(e)
		e.mu.Lock()
		e.reading = nil
		if e.again {
			e.again = false
			e.hasten()
		}
		e.mu.Unlock()
		close(done)
		if settled != nil {
			settled(before, after)
		}
	}()
	return done
}

// settle takes an answer.
func (e *Entry) settle(a Answer, f Freshness) (before, next Standing) {
	for {
		before = Standing{}
		known := e.standing.Load()
		if known != nil {
			before = *known
		}
		next = before.After(a, e.cache.now(), f, rand.Float64())
		if next.Good != before.Good && next.Good.Derived == nil {
			next.Good.Derived = e.cache.derive(next.Good.Robots)
		}
		if next.Failures == 0 {
			e.doubted.Store(false)
		}
		if e.replace(known, &next) {
			return before, next
		}
	}
}

// replace makes next the standing, unless that is not before any more. It is
// the only place that changes which versions an entry has.
func (e *Entry) replace(before, next *Standing) bool {
	c := e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.standing.Load() != before {
		return false
	}
	if c.index.get(e.key) != e {
		e.standing.Store(next) // evicted meanwhile: only the requests that wait will see it
		return true
	}
	kept := c.kept[e.segment]
	if before == nil || next.Good != before.Good || len(next.Past) != len(before.Past) {
		if next.Good != nil {
			kept.texts.keepAll(next)
		}
		kept.texts.releaseAll(before)
	}
	e.standing.Store(next)
	c.noteText(e.key, before, next)
	for kept.texts.bytes > kept.bounds.Bytes && kept.order.len() > 1 {
		c.evict(kept)
	}
	return true
}
