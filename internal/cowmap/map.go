package cowmap

import (
	"iter"
	"sync"
	"sync/atomic"
)

// Map is a copy-on-write map. A read does not lock, allocate or delay other readers. A write
// copies all entries. The zero Map is empty. A Map is safe for concurrent use. A Map must not
// be copied.
type Map[K comparable, V any] struct {
	current atomic.Pointer[entries[K, V]] // current is nil for an empty map.
	mu      sync.Mutex                    // This mutex is locked during writes.
}

// Load returns the value of a key, or the zero value and false.
func (m *Map[K, V]) Load(key K) (value V, ok bool) {
	return m.current.Load().get(key)
}

// LoadOrStore returns the value of a key. For a missing key, LoadOrStore stores the result of
// create. Concurrent calls for a key call create once.
func (m *Map[K, V]) LoadOrStore(key K, create func() V) V {
	if value, ok := m.Load(key); ok {
		return value
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.Load(key); ok {
		return value
	}
	value := create()
	m.current.Store(m.current.Load().withEntry(key, value))
	return value
}

// Store sets the value of a key.
func (m *Map[K, V]) Store(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current.Store(m.current.Load().withEntry(key, value))
}

// Delete removes a key.
func (m *Map[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.Load(key); !ok {
		return
	}
	m.current.Store(m.current.Load().withoutKey(key))
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return m.current.Load().len() }

// All yields the entries at the time of the call, in no particular order. Later writes have no
// effect.
func (m *Map[K, V]) All() iter.Seq2[K, V] { return m.current.Load().allEntries() }
