package cowmap

import (
	"hash/maphash"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// Keyed is what knows by which key it is found.
type Keyed[K comparable] interface {
	comparable
	Key() K
}

// Index is as a [Sharded] of values that know their keys, so that these are not kept once more:
// each takes two to four words. Key must always return the same of a value. The zero value of V
// stands for none. The zero Index is empty.
type Index[K comparable, V Keyed[K]] struct {
	shards [256]struct {
		slots atomic.Pointer[slots[K, V]] // they never change; nil for none
		mu    sync.Mutex                  // held while they are replaced; guards what follows
		used  int
	}
}

// Load returns the value of a key, the zero value if it has none. It takes no lock and does
// not allocate.
func (x *Index[K, V]) Load(key K) (value V) {
	hash := maphash.Comparable(seed, key)
	if slots := x.shards[uint8(hash)].slots.Load(); slots != nil {
		value = *slots.of(key, hash)
	}
	return value
}

// Store adds a value, or puts it in the place of that with the same key.
func (x *Index[K, V]) Store(value V) {
	key := value.Key()
	hash := maphash.Comparable(seed, key)
	shard := &x.shards[uint8(hash)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	var all slots[K, V]
	if before := shard.slots.Load(); before != nil {
		all = *before
	}
	if !all.has(key, hash) {
		shard.used++
	}
	if 2*shard.used > len(all) {
		var none V
		all = slotsFor(shard.used, all, none)
	} else {
		all = slices.Clone(all)
	}
	*all.of(key, hash) = value
	shard.slots.Store(&all)
}

// Delete takes out the value of a key.
func (x *Index[K, V]) Delete(key K) {
	hash := maphash.Comparable(seed, key)
	shard := &x.shards[uint8(hash)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	before := shard.slots.Load()
	if before == nil || !before.has(key, hash) {
		return
	}
	gone := *before.of(key, hash)
	shard.used--
	rest := slotsFor(shard.used, *before, gone) // anew: values that have passed over this one would not be found
	shard.slots.Store(&rest)
}

// All returns the values, in no order. Of what is written meanwhile some may be among them.
func (x *Index[K, V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		var none V
		for i := range x.shards {
			slots := x.shards[i].slots.Load()
			if slots == nil {
				continue
			}
			for _, value := range *slots {
				if value != none && !yield(value) {
					return
				}
			}
		}
	}
}

// slots hold each value in the slot of its hash or the next ones that are free, which half of them
// are at least. They are as many as a power of two.
type slots[K comparable, V Keyed[K]] []V

// slotsFor returns slots for so many values, with these but for one.
func slotsFor[K comparable, V Keyed[K]](n int, values slots[K, V], but V) slots[K, V] {
	size := 2
	for size < 2*n {
		size *= 2
	}
	var none V
	s := make(slots[K, V], size)
	for _, value := range values {
		if value != none && value != but {
			key := value.Key()
			*s.of(key, maphash.Comparable(seed, key)) = value
		}
	}
	return s
}

// of returns the slot that a key has, or is to get.
func (s slots[K, V]) of(key K, hash uint64) *V {
	var none V
	for i := hash >> 8; ; i++ { // the rest tells the shard
		slot := &s[i&uint64(len(s)-1)]
		if *slot == none || (*slot).Key() == key {
			return slot
		}
	}
}

func (s slots[K, V]) has(key K, hash uint64) bool {
	var none V
	return len(s) > 0 && *s.of(key, hash) != none
}
