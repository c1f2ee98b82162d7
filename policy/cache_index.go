package policy

import (
	"hash/maphash"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
)

// index finds values by key without a lock. It is in shards, for a writer copies
// what it changes.
type index[V any] struct {
	shards [256]cowmap.Map[Key, V]
}

var indexSeed = maphash.MakeSeed()

func (x *index[V]) shard(key Key) *cowmap.Map[Key, V] {
	return &x.shards[maphash.Comparable(indexSeed, key)%uint64(len(x.shards))]
}

func (x *index[V]) get(key Key) V {
	v, _ := x.shard(key).Load(key)
	return v
}

func (x *index[V]) put(key Key, v V) { x.shard(key).Store(key, v) }

func (x *index[V]) remove(key Key) { x.shard(key).Delete(key) }
