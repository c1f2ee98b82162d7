package policy

import (
	"hash/maphash"
	"maps"
	"sync/atomic"
)

// index finds entries by key without a lock. Each shard is a map that never
// changes; a writer replaces it by a changed copy. Writers are kept apart by
// Cache.mu.
type index struct {
	shards [256]atomic.Pointer[map[Key]*Entry]
}

var indexSeed = maphash.MakeSeed()

func (x *index) shard(key Key) *atomic.Pointer[map[Key]*Entry] {
	return &x.shards[maphash.Comparable(indexSeed, key)%uint64(len(x.shards))]
}

func (x *index) get(key Key) *Entry {
	if m := x.shard(key).Load(); m != nil {
		return (*m)[key]
	}
	return nil
}

func (x *index) put(key Key, e *Entry) {
	shard := x.shard(key)
	var changed map[Key]*Entry
	if old := shard.Load(); old != nil {
		changed = maps.Clone(*old)
	} else {
		changed = make(map[Key]*Entry, 1)
	}
	changed[key] = e
	shard.Store(&changed)
}

func (x *index) remove(key Key) {
	shard := x.shard(key)
	if old := shard.Load(); old != nil {
		changed := maps.Clone(*old)
		delete(changed, key)
		shard.Store(&changed)
	}
}
