package cowmap

import (
	"iter"
	"maps"
	"sync"
	"sync/atomic"
)

// Map is a map that is copied when it is written. Reading it takes no lock, does
// not allocate and disturbs no other reader; writing takes as long as there are
// entries. The zero Map is empty. Several goroutines may use a Map at once; it must
// not be copied.
type Map[K comparable, V any] struct {
	current atomic.Pointer[map[K]V] // never changes; nil while it is empty
	mu      sync.Mutex              // held while it is replaced
}

// load returns the entries, which must not be changed.
func (m *Map[K, V]) load() map[K]V {
	if current := m.current.Load(); current != nil {
		return *current
	}
	return nil
}

// Load returns the value of a key; ok is false, and the value zero, if it has none.
func (m *Map[K, V]) Load(key K) (value V, ok bool) {
	value, ok = m.load()[key]
	return value, ok
}

// LoadOrStore returns the value of a key. If it has none it gets the one that is
// made, once whoever asks at the same time.
func (m *Map[K, V]) LoadOrStore(key K, made func() V) V {
	if value, ok := m.Load(key); ok {
		return value
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.Load(key); ok {
		return value
	}
	value := made()
	m.store(key, value)
	return value
}

// Store sets the value of a key.
func (m *Map[K, V]) Store(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.store(key, value)
}

// store does the same with mu held.
func (m *Map[K, V]) store(key K, value V) {
	changed := maps.Clone(m.load())
	if changed == nil {
		changed = make(map[K]V, 1)
	}
	changed[key] = value
	m.current.Store(&changed)
}

// Delete takes a key out.
func (m *Map[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.Load(key); !ok {
		return
	}
	changed := maps.Clone(m.load())
	delete(changed, key)
	m.current.Store(&changed)
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return len(m.load()) }

// All returns the entries as they are now, in no order. What is written
// meanwhile is not among them.
func (m *Map[K, V]) All() iter.Seq2[K, V] { return maps.All(m.load()) }
