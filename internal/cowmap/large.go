package cowmap

import (
	"iter"
	"sync"
)

// LargeMap is a map for many keys, a [sync.Map] with types. An entry needs more memory than in a
// [Map]. The time of a write does not depend on the number of entries. The zero LargeMap is empty.
type LargeMap[K comparable, V any] struct{ entries sync.Map }

// Load returns the value of a key, or the zero value and false. Load does not lock or allocate.
func (m *LargeMap[K, V]) Load(key K) (value V, ok bool) {
	found, ok := m.entries.Load(key)
	if ok {
		value = found.(V)
	}
	return value, ok
}

// LoadOrStore returns the value of a key. For a missing key, LoadOrStore stores the result of
// create. Several goroutines may call create for a key at the same time. All calls return the
// same value.
func (m *LargeMap[K, V]) LoadOrStore(key K, create func() V) V {
	if value, ok := m.Load(key); ok {
		return value
	}
	value, _ := m.entries.LoadOrStore(key, create())
	return value.(V)
}

// Store sets the value of a key.
func (m *LargeMap[K, V]) Store(key K, value V) { m.entries.Store(key, value) }

// Delete removes a key.
func (m *LargeMap[K, V]) Delete(key K) { m.entries.Delete(key) }

// All yields the entries in no particular order. An entry that changes during the iteration may be
// missing, or have its old or new value.
func (m *LargeMap[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		m.entries.Range(func(key, value any) bool { return yield(key.(K), value.(V)) })
	}
}
