package rate

import (
	"sync"
	"sync/atomic"
	"time"
)

// bucketSize is how many budgets share a bucket. When another comes, the least recently used of
// these goes; one of which requests are under way goes only where all have some.
const bucketSize = 8

// bucket has the budgets of keys that fall together.
type bucket [bucketSize]atomic.Pointer[budget]

// table keeps budgets by key, so many at most. Finding one that is there takes no
// lock and does not allocate.
type table struct {
	buckets []bucket // a power of two
	mu      sync.Mutex
}

// newTable returns a table for at least so many budgets.
func newTable(size int) *table {
	buckets := 1
	for buckets*bucketSize < size {
		buckets *= 2
	}
	return &table{buckets: make([]bucket, buckets)}
}

// lastUsedStep is how exactly it is known when a budget was used: not each request
// writes that.
const lastUsedStep = time.Second

// find returns the budget of a key, a new one if it has none.
func (t *table) find(key uint64, now time.Duration) *budget {
	p := &t.buckets[key&uint64(len(t.buckets)-1)]
	for i := range p {
		if b := p[i].Load(); b != nil && b.key == key {
			if used := b.lastUsed.Load(); int64(now)-used > int64(lastUsedStep) {
				b.lastUsed.Store(int64(now))
			}
			return b
		}
	}
	return t.add(p, key, now)
}

// contains reports whether a budget was not put out.
func (t *table) contains(b *budget) bool {
	p := &t.buckets[b.key&uint64(len(t.buckets)-1)]
	for i := range p {
		if p[i].Load() == b {
			return true
		}
	}
	return false
}

// evictedBefore reports whether one budget goes before another when there is no room.
func (b *budget) evictedBefore(other *budget) bool {
	if busy, others := b.concurrent.inUse.Load() > 0, other.concurrent.inUse.Load() > 0; busy != others {
		return others
	}
	return b.lastUsed.Load() < other.lastUsed.Load()
}

// add gives a key a budget, instead of the one in its bucket that was used least recently.
func (t *table) add(p *bucket, key uint64, now time.Duration) *budget {
	t.mu.Lock()
	defer t.mu.Unlock()
	idlest := 0
	for i := range p {
		b := p[i].Load()
		if b == nil {
			idlest = i
			break
		}
		if b.key == key {
			return b // added meanwhile
		}
		if b.evictedBefore(p[idlest].Load()) {
			idlest = i
		}
	}
	b := &budget{key: key}
	b.lastUsed.Store(int64(now))
	p[idlest].Store(b)
	return b
}

// len returns how many budgets there are.
func (t *table) len() (n int) {
	for i := range t.buckets {
		for j := range t.buckets[i] {
			if t.buckets[i][j].Load() != nil {
				n++
			}
		}
	}
	return n
}
