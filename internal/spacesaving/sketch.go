package spacesaving

import (
	"cmp"
	"slices"
	"time"
)

// Sketch counts many different items in little memory: the Space-Saving algorithm of Metwally,
// Agrawal and El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams"
// (2005). If the sketch is full, a new item replaces the item with the lowest count and
// inherits the count. So no count is too low, a count is too high by at most its Error, and the
// sketch contains each item that occurs more often than the lowest count.
//
// The zero Sketch is empty. Callers may read Items, but only methods change it.
type Sketch[K comparable] struct {
	Items []Item[K] `json:"items,omitempty"`
	// Floor is the maximum number of occurrences of an item that was replaced, or dropped by Merge.
	// FloorAt is the time of the occurrence that caused the last replacement, or of the last
	// occurrence of a dropped item if that is later, in Unix milliseconds.
	Floor   uint64 `json:"floor,omitempty"`
	FloorAt int64  `json:"floor_at,omitempty"`

	index *keyIndex[K] // index is nil if there are few items, or if it must be built again.
}

// IsZero reports whether the sketch is empty. The option omitzero of package json calls it.
func (s Sketch[K]) IsZero() bool { return len(s.Items) == 0 && s.Floor == 0 }

// Item is a counted item of a sketch. It occurred at most Count times, and at least Count-Error
// times. First and Last are the times of the first and last counted occurrence, in Unix
// milliseconds.
type Item[K comparable] struct {
	Key   K      `json:"key"`
	Count uint64 `json:"count"`
	Error uint64 `json:"error,omitempty"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
}

// keyIndex maps the keys of a sketch to the positions of their items.
type keyIndex[K comparable] struct {
	positions   map[K]int32
	lowestCount uint64 // No count is lower than this.
	cursor      int    // No item before this position has lowestCount.
}

// minIndexed is the number of items above which a sketch has an index. Up to that number, a
// search through all items is as fast and takes no memory.
const minIndexed = 32

// Add adds n occurrences of an item. at is their time in Unix milliseconds. If the sketch already
// has maxItems items, a new item replaces the one with the lowest count. cloneKey, if not nil,
// copies the key of a new item, so the sketch shares no memory with the caller.
func (s *Sketch[K]) Add(key K, n uint64, at int64, maxItems int, cloneKey func(K) K) {
	place, lowest := s.find(key)
	if place >= 0 {
		item := &s.Items[place]
		item.Count += n
		item.First, item.Last = min(item.First, at), max(item.Last, at)
		return
	}
	if place = len(s.Items); place < maxItems {
		s.Items = append(s.Items, Item[K]{})
	} else {
		if place = lowest; place < 0 {
			place = s.findLowest()
		}
		displaced := &s.Items[place]
		s.Floor, s.FloorAt = max(s.Floor, displaced.Count), max(s.FloorAt, at)
		if s.index != nil {
			delete(s.index.positions, displaced.Key)
		}
	}
	if cloneKey != nil {
		key = cloneKey(key)
	}
	s.Items[place] = Item[K]{Key: key, Count: s.Floor + n, Error: s.Floor, First: at, Last: at}
	if s.index != nil {
		s.index.positions[key] = int32(place)
	}
}

// find returns the position of the item with a key, or -1. If it has searched all items, lowest is
// the position of an item with the lowest count. Otherwise lowest is -1.
func (s *Sketch[K]) find(key K) (place, lowest int) {
	if len(s.Items) > minIndexed {
		if s.index == nil {
			s.buildIndex()
		}
		return s.PositionOf(key), -1
	}
	for i := range s.Items {
		if s.Items[i].Key == key {
			return i, -1
		}
		if s.Items[i].Count < s.Items[lowest].Count {
			lowest = i
		}
	}
	return -1, lowest
}

// buildIndex creates the index from the items.
func (s *Sketch[K]) buildIndex() {
	s.index = &keyIndex[K]{positions: make(map[K]int32, len(s.Items))}
	for i := range s.Items {
		s.index.positions[s.Items[i].Key] = int32(i)
	}
}

// findLowest returns the position of an item with the lowest count. Because counts only grow, a
// single pass over the items finds all items with this count, one at each call.
func (s *Sketch[K]) findLowest() int {
	for p := s.index; ; {
		for ; p.cursor < len(s.Items); p.cursor++ {
			if s.Items[p.cursor].Count <= p.lowestCount {
				return p.cursor
			}
		}
		p.lowestCount, p.cursor = s.Items[0].Count, 0
		for i := range s.Items {
			p.lowestCount = min(p.lowestCount, s.Items[i].Count)
		}
	}
}

// PositionOf returns the position in Items of the item with a key, or -1.
func (s *Sketch[K]) PositionOf(key K) int {
	if s.index != nil {
		if place, ok := s.index.positions[key]; ok {
			return int(place)
		}
		return -1
	}
	for i := range s.Items { // The function slices.IndexFunc would copy the items.
		if s.Items[i].Key == key {
			return i
		}
	}
	return -1
}

// ReplaceKey changes the key of the item at a position in Items. No other item may have the new
// key.
func (s *Sketch[K]) ReplaceKey(place int, key K) {
	if s.index != nil {
		delete(s.index.positions, s.Items[place].Key)
		s.index.positions[key] = int32(place)
	}
	s.Items[place].Key = key
}

// Merge adds the counts of another sketch, and then drops the items with the lowest counts beyond
// maxItems. The bounds in Item hold for the sums (Agarwal et al., "Mergeable Summaries", 2012).
func (s *Sketch[K]) Merge(other Sketch[K], maxItems int) {
	if maxItems > minIndexed {
		s.buildIndex()
		other.buildIndex()
	}
	merged := make([]Item[K], 0, len(s.Items)+len(other.Items))
	for _, item := range s.Items {
		if i := other.PositionOf(item.Key); i >= 0 {
			o := other.Items[i]
			item.Count, item.Error = item.Count+o.Count, item.Error+o.Error
			item.First, item.Last = min(item.First, o.First), max(item.Last, o.Last)
		} else {
			item.Count, item.Error = item.Count+other.Floor, item.Error+other.Floor
		}
		merged = append(merged, item)
	}
	for _, item := range other.Items {
		if s.PositionOf(item.Key) < 0 {
			item.Count, item.Error = item.Count+s.Floor, item.Error+s.Floor
			merged = append(merged, item)
		}
	}
	s.Floor, s.FloorAt = s.Floor+other.Floor, max(s.FloorAt, other.FloorAt)
	s.Items, s.index = merged, nil
	s.truncate(maxItems)
}

// truncate drops the items with the lowest counts beyond maxItems.
func (s *Sketch[K]) truncate(maxItems int) {
	if len(s.Items) <= maxItems {
		return
	}
	slices.SortStableFunc(s.Items, func(a, b Item[K]) int { return cmp.Compare(b.Count, a.Count) })
	for _, dropped := range s.Items[maxItems:] {
		s.Floor, s.FloorAt = max(s.Floor, dropped.Count), max(s.FloorAt, dropped.Last)
	}
	s.Items = slices.Clone(s.Items[:maxItems])
}

// maxCount bounds decoded counts, so that sums of sketches do not overflow.
const maxCount = 1 << 48

// Clean repairs a sketch from untrusted data: it drops items beyond maxItems and items with a
// repeated key, limits Floor and each Count to maxCount, and limits each Error to Count. bound, if
// not nil, shortens each key before keys are compared.
func (s *Sketch[K]) Clean(maxItems int, bound func(*K)) {
	items := s.Items
	s.Items, s.index, s.Floor = nil, nil, min(s.Floor, maxCount)
	for _, item := range items[:min(len(items), maxItems)] {
		if bound != nil {
			bound(&item.Key)
		}
		if s.PositionOf(item.Key) < 0 {
			item.Count = min(item.Count, maxCount)
			item.Error = min(item.Error, item.Count)
			s.Items = append(s.Items, item)
		}
	}
}

// Prune removes the items without an occurrence within the retention before now, in Unix
// milliseconds. It also resets Floor if no item was replaced in that time.
func (s *Sketch[K]) Prune(now int64, retention time.Duration) {
	oldest := now - retention.Milliseconds()
	s.Items, s.index = slices.DeleteFunc(s.Items, func(item Item[K]) bool { return item.Last < oldest }), nil
	for i := range s.Items {
		s.Items[i].Last = min(s.Items[i].Last, now) // A wrong clock must not keep an item forever.
	}
	s.FloorAt = min(s.FloorAt, now)
	if s.FloorAt < oldest {
		s.Floor, s.FloorAt = 0, 0
	}
}

// Clone returns a copy, which shares no memory with the sketch except strings in keys.
func (s *Sketch[K]) Clone() Sketch[K] {
	return Sketch[K]{Items: slices.Clone(s.Items), Floor: s.Floor, FloorAt: s.FloorAt}
}
