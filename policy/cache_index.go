package policy

import (
	"hash/maphash"
	"maps"
	"sync/atomic"
)

// index finds values by key without a lock. Each shard is a map that never
// changes; a writer replaces it by a changed copy. Writers are kept apart by
// Cache.mu.
type index[V any] struct {
	shards [256]atomic.Pointer[map[Key]V]
}

var indexSeed = maphash.MakeSeed()

func (x *index[V]) shard(key Key) *atomic.Pointer[map[Key]V] {
	return &x.shards[maphash.Comparable(indexSeed, key)%uint64(len(x.shards))]
}

func (x *index[V]) get(key Key) (v V) {
	if m := x.shard(key).Load(); m != nil {
		return (*m)[key]
	}
	return v
}

func (x *index[V]) put(key Key, v V) {
	shard := x.shard(key)
	var changed map[Key]V
	if old := shard.Load(); old != nil {
		changed = maps.Clone(*old)
	} else {
		changed = make(map[Key]V, 1)
	}
	changed[key] = v
	shard.Store(&changed)
}

func (x *index[V]) remove(key Key) {
	shard := x.shard(key)
	if old := shard.Load(); old != nil {
		changed := maps.Clone(*old)
		delete(changed, key)
		shard.Store(&changed)
	}
}
