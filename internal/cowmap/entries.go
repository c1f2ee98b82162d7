package cowmap

import (
	"iter"
	"maps"
)

// maxSlice is the maximum number of entries, including the first, for a linear search. Most maps,
// for example the many maps of sites, have fewer entries. A Go map needs memory for at least
// eight entries, and a lookup needs several dependent memory reads.
const maxSlice = 8

// entries is an immutable version of a [Map] with at least one entry. A nil entries is empty.
// Most maps have one entry, which needs no further allocation.
type entries[K comparable, V any] struct {
	firstEntry   entry[K, V]
	otherEntries []entry[K, V]
	entriesByKey map[K]V // entriesByKey has all entries of a large map, else it is nil.
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// get returns the value of a key. ok is false for a missing key.
func (e *entries[K, V]) get(key K) (value V, ok bool) {
	switch {
	case e == nil:
		return value, false
	case e.entriesByKey != nil:
		value, ok = e.entriesByKey[key]
		return value, ok
	case e.firstEntry.key == key:
		return e.firstEntry.value, true
	}
	for i := range e.otherEntries {
		if e.otherEntries[i].key == key {
			return e.otherEntries[i].value, true
		}
	}
	return value, false
}

// len returns the number of entries.
func (e *entries[K, V]) len() int {
	switch {
	case e == nil:
		return 0
	case e.entriesByKey != nil:
		return len(e.entriesByKey)
	}
	return 1 + len(e.otherEntries)
}

// allEntries yields the entries in no particular order.
func (e *entries[K, V]) allEntries() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		switch {
		case e == nil:
			return
		case e.entriesByKey != nil:
			maps.All(e.entriesByKey)(yield)
			return
		case !yield(e.firstEntry.key, e.firstEntry.value):
			return
		}
		for _, one := range e.otherEntries {
			if !yield(one.key, one.value) {
				return
			}
		}
	}
}

// withEntry returns a copy of e in which the key has the given value.
func (e *entries[K, V]) withEntry(key K, value V) *entries[K, V] {
	if e != nil && e.entriesByKey != nil {
		many := maps.Clone(e.entriesByKey)
		many[key] = value
		return &entries[K, V]{entriesByKey: many}
	}
	var room [1 + maxSlice]entry[K, V]
	all := e.appendEntriesExcept(append(room[:0], entry[K, V]{key, value}), key)
	if len(all) <= maxSlice {
		return newEntries(all)
	}
	many := make(map[K]V, len(all))
	for _, one := range all {
		many[one.key] = one.value
	}
	return &entries[K, V]{entriesByKey: many}
}

// withoutKey returns a copy of e without the entry of a key.
func (e *entries[K, V]) withoutKey(key K) *entries[K, V] {
	if e.len() > 1+maxSlice {
		many := maps.Clone(e.entriesByKey)
		delete(many, key)
		return &entries[K, V]{entriesByKey: many}
	}
	var room [1 + maxSlice]entry[K, V]
	return newEntries(e.appendEntriesExcept(room[:0], key))
}

// appendEntriesExcept appends all entries except the entry of a key to a slice.
func (e *entries[K, V]) appendEntriesExcept(to []entry[K, V], key K) []entry[K, V] {
	for k, value := range e.allEntries() {
		if k != key {
			to = append(to, entry[K, V]{k, value})
		}
	}
	return to
}

// newEntries returns entries with a copy of the given slice, or nil for an empty slice.
func newEntries[K comparable, V any](all []entry[K, V]) *entries[K, V] {
	if len(all) == 0 {
		return nil
	}
	// This is a copy, so that the array of all can be freed.
	return &entries[K, V]{firstEntry: all[0], otherEntries: append([]entry[K, V](nil), all[1:]...)}
}
