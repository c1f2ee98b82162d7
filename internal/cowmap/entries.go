package cowmap

import (
	"iter"
	"maps"
)

// maxFew is how many entries are gone through one after the other. Most maps have no more, as
// those of a site, of which there may be very many. One of Go's takes memory for eight
// entries at least, and reads that wait for one another.
const maxFew = 8

// entries are those of a [Map] at a time. They never change, and nil is none.
type entries[K comparable, V any] struct {
	few  []entry[K, V]
	many map[K]V // all, where there are more than a few; nil elsewhere
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// load returns the value of a key.
func (e *entries[K, V]) load(key K) (value V, ok bool) {
	if e == nil {
		return value, false
	}
	for i := range e.few {
		if e.few[i].key == key {
			return e.few[i].value, true
		}
	}
	if e.many != nil {
		value, ok = e.many[key]
	}
	return value, ok
}

// len returns how many there are.
func (e *entries[K, V]) len() int {
	if e == nil {
		return 0
	}
	return len(e.few) + len(e.many)
}

// all returns them, in no order.
func (e *entries[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if e == nil {
			return
		}
		for _, one := range e.few {
			if !yield(one.key, one.value) {
				return
			}
		}
		maps.All(e.many)(yield)
	}
}

// with returns them with a value for a key.
func (e *entries[K, V]) with(key K, value V) *entries[K, V] {
	rest := e.without(key)
	if rest.many == nil && len(rest.few) < maxFew {
		rest.few = append(rest.few, entry[K, V]{key, value})
		return rest
	}
	if rest.many == nil {
		rest = &entries[K, V]{many: maps.Collect(rest.all())}
	}
	rest.many[key] = value
	return rest
}

// without returns them without a key, in memory of their own with room for another.
func (e *entries[K, V]) without(key K) *entries[K, V] {
	if e.len() > maxFew {
		rest := maps.Clone(e.many)
		delete(rest, key)
		return &entries[K, V]{many: rest}
	}
	rest := &entries[K, V]{few: make([]entry[K, V], 0, e.len()+1)}
	for k, v := range e.all() {
		if k != key {
			rest.few = append(rest.few, entry[K, V]{k, v})
		}
	}
	return rest
}
