package rate

import (
	"sync"
	"sync/atomic"
	"time"
)

// ways is how many budgets share a place: of these the least recently used goes when
// another comes, one of which requests are under way only where all have some.
const ways = 8

// place is where the budgets are of keys that fall together.
type place [ways]atomic.Pointer[budget]

// table keeps budgets by key, so many at most. Finding one that is there takes no
// lock and does not allocate.
type table struct {
	places []place // a power of two
	mu     sync.Mutex
}

// newTable returns a table for at least so many budgets.
func newTable(size int) *table {
	places := 1
	for places*ways < size {
		places *= 2
	}
	return &table{places: make([]place, places)}
}

// usedStep is how exactly it is known when a budget was used: not each request
// writes that.
const usedStep = time.Second

// find returns the budget of a key, a new one if it has none.
func (t *table) find(key uint64, now time.Duration) *budget {
	p := &t.places[key&uint64(len(t.places)-1)]
	for i := range p {
		if b := p[i].Load(); b != nil && b.key == key {
			if used := b.used.Load(); int64(now)-used > int64(usedStep) {
				b.used.Store(int64(now))
			}
			return b
		}
	}
	return t.add(p, key, now)
}

// has reports whether a budget was not put out.
func (t *table) has(b *budget) bool {
	p := &t.places[b.key&uint64(len(t.places)-1)]
	for i := range p {
		if p[i].Load() == b {
			return true
		}
	}
	return false
}

// goesBefore reports whether one budget goes before another when there is no room.
func (b *budget) goesBefore(other *budget) bool {
	if busy, others := b.busy.taken.Load() > 0, other.busy.taken.Load() > 0; busy != others {
		return others
	}
	return b.used.Load() < other.used.Load()
}

// add gives a key a budget, in the place of the one that was used least recently.
func (t *table) add(p *place, key uint64, now time.Duration) *budget {
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
		if b.goesBefore(p[idlest].Load()) {
			idlest = i
		}
	}
	b := &budget{key: key}
	b.used.Store(int64(now))
	p[idlest].Store(b)
	return b
}

// len returns how many budgets there are.
func (t *table) len() (n int) {
	for i := range t.places {
		for j := range t.places[i] {
			if t.places[i][j].Load() != nil {
				n++
			}
		}
	}
	return n
}
