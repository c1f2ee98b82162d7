package cowmap

import (
	"hash/maphash"
	"iter"
)

// Sharded is a [Map] for many keys. It is in parts, so that writing takes no longer than
// one of them has entries. The zero Sharded is empty.
type Sharded[K comparable, V any] struct {
	shards [256]Map[K, V]
}

var seed = maphash.MakeSeed()

func (m *Sharded[K, V]) shard(key K) *Map[K, V] {
	return &m.shards[maphash.Comparable(seed, key)%uint64(len(m.shards))]
}

// Load returns the value of a key; ok is false, and the value zero, if it has none.
func (m *Sharded[K, V]) Load(key K) (value V, ok bool) { return m.shard(key).Load(key) }

// LoadOrStore returns the value of a key. If it has none it gets the one that is
// made, once whoever asks at the same time.
func (m *Sharded[K, V]) LoadOrStore(key K, made func() V) V {
	return m.shard(key).LoadOrStore(key, made)
}

// Store sets the value of a key.
func (m *Sharded[K, V]) Store(key K, value V) { m.shard(key).Store(key, value) }

// Delete takes a key out.
func (m *Sharded[K, V]) Delete(key K) { m.shard(key).Delete(key) }

// Len returns the number of entries.
func (m *Sharded[K, V]) Len() (n int) {
	for i := range m.shards {
		n += m.shards[i].Len()
	}
	return n
}

// All returns the entries, in no order. Of what is written meanwhile some may be among
// them.
func (m *Sharded[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := range m.shards {
			if m.shards[i].Len() == 0 {
				continue // as most are where there are few
			}
			for key, value := range m.shards[i].All() {
				if !yield(key, value) {
					return
				}
			}
		}
	}
}
