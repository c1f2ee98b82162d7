package cowmap

import (
	"iter"
	"sync"
)

// Large is a map for many keys, a [sync.Map] with types. An entry takes more memory than in a
// [Map], and writing takes as long however many entries there are. The zero Large is empty.
type Large[K comparable, V any] struct{ entries sync.Map }

// Load returns the value of a key; ok is false, and the value zero, if it has none. It takes
// no lock and does not allocate.
func (m *Large[K, V]) Load(key K) (value V, ok bool) {
	found, ok := m.entries.Load(key)
	if ok {
		value = found.(V)
	}
	return value, ok
}

// LoadOrStore returns the value of a key. If it has none, LoadOrStore stores the result of
// made. Several goroutines may call made for one key at once; all return the same value.
func (m *Large[K, V]) LoadOrStore(key K, create func() V) V {
	if value, ok := m.Load(key); ok {
		return value
	}
	value, _ := m.entries.LoadOrStore(key, create())
	return value.(V)
}

// Store sets the value of a key.
func (m *Large[K, V]) Store(key K, value V) { m.entries.Store(key, value) }

// Delete removes a key.
func (m *Large[K, V]) Delete(key K) { m.entries.Delete(key) }

// All returns the entries, in no order. It may or may not include concurrent changes.
func (m *Large[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		m.entries.Range(func(key, value any) bool { return yield(key.(K), value.(V)) })
	}
}
