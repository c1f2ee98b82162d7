package cowmap

import (
	"iter"
	"maps"
)

// maxSlice is how many entries are gone through one after the other. Most maps have no more, as
// those of a site, of which there may be very many. One of Go's takes memory for eight
// entries at least, and reads that wait for one another.
const maxSlice = 8

// entries are those of a [Map] at a time, one at least; nil stands for none. They never change.
// Most maps have one entry, which takes no memory beside them.
type entries[K comparable, V any] struct {
	first entry[K, V]
	rest  []entry[K, V]
	asMap map[K]V // all, where there are more than a few; nil elsewhere
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// load returns the value of a key.
func (e *entries[K, V]) load(key K) (value V, ok bool) {
	switch {
	case e == nil:
		return value, false
	case e.asMap != nil:
		value, ok = e.asMap[key]
		return value, ok
	case e.first.key == key:
		return e.first.value, true
	}
	for i := range e.rest {
		if e.rest[i].key == key {
			return e.rest[i].value, true
		}
	}
	return value, false
}

// len returns how many there are.
func (e *entries[K, V]) len() int {
	switch {
	case e == nil:
		return 0
	case e.asMap != nil:
		return len(e.asMap)
	}
	return 1 + len(e.rest)
}

// all returns them, in no order.
func (e *entries[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		switch {
		case e == nil:
			return
		case e.asMap != nil:
			maps.All(e.asMap)(yield)
			return
		case !yield(e.first.key, e.first.value):
			return
		}
		for _, one := range e.rest {
			if !yield(one.key, one.value) {
				return
			}
		}
	}
}

// with returns them with a value for a key.
func (e *entries[K, V]) with(key K, value V) *entries[K, V] {
	if e != nil && e.asMap != nil {
		many := maps.Clone(e.asMap)
		many[key] = value
		return &entries[K, V]{asMap: many}
	}
	var room [1 + maxSlice]entry[K, V]
	all := e.appendExcept(append(room[:0], entry[K, V]{key, value}), key)
	if len(all) <= maxSlice {
		return newEntries(all)
	}
	many := make(map[K]V, len(all))
	for _, one := range all {
		many[one.key] = one.value
	}
	return &entries[K, V]{asMap: many}
}

// without returns them without a key.
func (e *entries[K, V]) without(key K) *entries[K, V] {
	if e.len() > 1+maxSlice {
		many := maps.Clone(e.asMap)
		delete(many, key)
		return &entries[K, V]{asMap: many}
	}
	var room [1 + maxSlice]entry[K, V]
	return newEntries(e.appendExcept(room[:0], key))
}

// appendExcept appends all but that of a key.
func (e *entries[K, V]) appendExcept(to []entry[K, V], key K) []entry[K, V] {
	for k, value := range e.all() {
		if k != key {
			to = append(to, entry[K, V]{k, value})
		}
	}
	return to
}

// newEntries returns these entries in memory of their own.
func newEntries[K comparable, V any](all []entry[K, V]) *entries[K, V] {
	if len(all) == 0 {
		return nil
	}
	return &entries[K, V]{first: all[0], rest: append([]entry[K, V](nil), all[1:]...)} // nothing of all is kept
}
