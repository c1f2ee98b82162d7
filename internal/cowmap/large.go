package cowmap

import (
	"hash/maphash"
	"iter"
	"sync"
)

// numShards is the number of maps in a LargeMap. With 100,000 entries, a write copies about a
// hundred.
const numShards = 1024

// LargeMap is a map for many entries that is read far more often than written. Load takes no lock
// and does not allocate. The zero LargeMap is empty. LargeMap is safe for concurrent use.
type LargeMap[K comparable, V any] struct {
	initialize sync.Once
	seed       maphash.Seed
	shards     *[numShards]Map[K, V]
}

// allShards returns the maps, created at the first call.
func (m *LargeMap[K, V]) allShards() *[numShards]Map[K, V] {
	m.initialize.Do(func() { m.seed, m.shards = maphash.MakeSeed(), new([numShards]Map[K, V]) })
	return m.shards
}

// shard returns the map that contains a key.
func (m *LargeMap[K, V]) shard(key K) *Map[K, V] {
	shards := m.allShards()
	return &shards[maphash.Comparable(m.seed, key)%numShards]
}

// Load returns the value of a key, or the zero value and false.
func (m *LargeMap[K, V]) Load(key K) (value V, ok bool) { return m.shard(key).Load(key) }

// LoadOrStore returns the value of a key. For a missing key, LoadOrStore stores the result of
// create, which must not use the map.
func (m *LargeMap[K, V]) LoadOrStore(key K, create func() V) V {
	return m.shard(key).LoadOrStore(key, create)
}

// Store sets the value of a key.
func (m *LargeMap[K, V]) Store(key K, value V) { m.shard(key).Store(key, value) }

// Delete removes a key.
func (m *LargeMap[K, V]) Delete(key K) { m.shard(key).Delete(key) }

// All yields the entries in no particular order. An entry that changes during the iteration may be
// missing, or have its old or new value.
func (m *LargeMap[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		shards := m.allShards()
		for i := range shards {
			for key, value := range shards[i].All() {
				if !yield(key, value) {
					return
				}
			}
		}
	}
}
