package rate

import (
	"sync"
	"sync/atomic"
	"time"
)

// bucketSize is the number of budgets in a bucket. A new budget replaces the least recently used
// budget of its bucket. A budget with running requests is replaced only if all budgets of the
// bucket have running requests.
const bucketSize = 8

// bucket contains those budgets of a table whose keys have the same low bits.
type bucket [bucketSize]atomic.Pointer[budget]

// table maps keys to budgets. The number of budgets is bounded. Finding an existing budget takes no
// lock and does not allocate.
type table struct {
	buckets []bucket // The length is a power of two.
	mu      sync.Mutex
}

// newTable returns a table for at least size budgets.
func newTable(size int) *table {
	buckets := 1
	for buckets*bucketSize < size {
		buckets *= 2
	}
	return &table{buckets: make([]bucket, buckets)}
}

// lastUsedStep is the precision of the time of last use. A long step avoids a write for each
// request.
const lastUsedStep = time.Second

// findBudget returns the budget of a key. findBudget adds a budget if the key has none.
func (t *table) findBudget(key uint64, now time.Duration) *budget {
	p := &t.buckets[key&uint64(len(t.buckets)-1)]
	for i := range p {
		if b := p[i].Load(); b != nil && b.key == key {
			if used := b.lastUsed.Load(); int64(now)-used > int64(lastUsedStep) {
				b.lastUsed.Store(int64(now))
			}
			return b
		}
	}
	return t.addBudget(p, key, now)
}

// contains reports whether b is still in the table and was not evicted.
func (t *table) contains(b *budget) bool {
	p := &t.buckets[b.key&uint64(len(t.buckets)-1)]
	for i := range p {
		if p[i].Load() == b {
			return true
		}
	}
	return false
}

// isEvictedBefore reports whether a table evicts b before other: budgets without running requests
// first, then the least recently used.
func (b *budget) isEvictedBefore(other *budget) bool {
	if busy, others := b.concurrent.inUse.Load() > 0, other.concurrent.inUse.Load() > 0; busy != others {
		return others
	}
	return b.lastUsed.Load() < other.lastUsed.Load()
}

// addBudget adds a budget for a key to a bucket. If the bucket is full, the budget replaces the
// least recently used budget.
func (t *table) addBudget(p *bucket, key uint64, now time.Duration) *budget {
	t.mu.Lock()
	defer t.mu.Unlock()
	oldest := 0
	for i := range p {
		b := p[i].Load()
		if b == nil {
			oldest = i
			break
		}
		if b.key == key {
			return b // Another goroutine has added the budget.
		}
		if b.isEvictedBefore(p[oldest].Load()) {
			oldest = i
		}
	}
	b := &budget{key: key}
	b.lastUsed.Store(int64(now))
	p[oldest].Store(b)
	return b
}

// len returns the number of budgets in the table.
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
