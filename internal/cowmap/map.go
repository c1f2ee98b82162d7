package cowmap

import (
	"iter"
	"sync"
	"sync/atomic"
)

// Map is a map that is copied when it is written. Reading it takes no lock, does
// not allocate and disturbs no other reader; writing takes as long as there are
// entries. The zero Map is empty. Several goroutines may use a Map at once; it must
// not be copied.
type Map[K comparable, V any] struct {
	current atomic.Pointer[entries[K, V]] // nil while it is empty
	mu      sync.Mutex                    // held while they are replaced
}

// Load returns the value of a key; ok is false, and the value zero, if it has none.
func (m *Map[K, V]) Load(key K) (value V, ok bool) {
	return m.current.Load().load(key)
}

// LoadOrStore returns the value of a key. If it has none it gets the one that is
// made, once whoever asks at the same time.
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
	m.current.Store(m.current.Load().with(key, value))
	return value
}

// Store sets the value of a key.
func (m *Map[K, V]) Store(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current.Store(m.current.Load().with(key, value))
}

// Delete takes a key out.
func (m *Map[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.Load(key); !ok {
		return
	}
	m.current.Store(m.current.Load().without(key))
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return m.current.Load().len() }

// All returns the entries as they are now, in no order. What is written
// meanwhile is not among them.
func (m *Map[K, V]) All() iter.Seq2[K, V] { return m.current.Load().all() }
