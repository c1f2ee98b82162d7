package ledger

import (
	"cmp"
	"slices"
	"time"
)

// Sketch counts many different items in little memory: the Space-Saving
// algorithm of Metwally, Agrawal and El Abbadi, "Efficient Computation of
// Frequent and Top-k Elements in Data Streams" (2005). Where there is no room
// for a new item it takes the place, and inherits the count, of the one with
// the lowest count. So no count is too low, each may be too high by its Error
// at most, and whatever occurs more often than the lowest count is there.
type Sketch[K comparable] struct {
	Items []Item[K] `json:"items,omitempty"`
	// Floor is the most that an item which is not there can have occurred, and
	// FloorAt when one was last displaced, in Unix milliseconds.
	Floor   uint64 `json:"floor,omitempty"`
	FloorAt int64  `json:"floor_at,omitempty"`
}

// Item is one item of a sketch. It occurred at most Count times and at least
// Count-Error times. First and Last are the times of the first occurrence that
// is known and of the last, in Unix milliseconds.
type Item[K comparable] struct {
	Key   K      `json:"key"`
	Count uint64 `json:"count"`
	Error uint64 `json:"error,omitempty"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
}

// add counts an item, keeping at most so many. It returns the item if it is
// new, so that the caller can give it a key that keeps nothing of a request,
// else nil.
func (s *Sketch[K]) add(key K, at int64, most int) *Item[K] {
	lowest := 0
	for i := range s.Items {
		item := &s.Items[i]
		if item.Key == key {
			item.Count++
			item.First, item.Last = min(item.First, at), max(item.Last, at)
			return nil
		}
		if item.Count < s.Items[lowest].Count {
			lowest = i
		}
	}
	place := len(s.Items)
	if place < most {
		s.Items = append(s.Items, Item[K]{})
	} else {
		place = lowest
		s.Floor, s.FloorAt = max(s.Floor, s.Items[place].Count), max(s.FloorAt, at)
	}
	s.Items[place] = Item[K]{Key: key, Count: s.Floor + 1, Error: s.Floor, First: at, Last: at}
	return &s.Items[place]
}

// merge adds what another sketch has counted, keeping at most so many.
func (s *Sketch[K]) merge(other Sketch[K], most int) {
	merged := make([]Item[K], 0, len(s.Items)+len(other.Items))
	for _, item := range s.Items {
		if i := other.index(item.Key); i >= 0 {
			o := other.Items[i]
			item.Count, item.Error = item.Count+o.Count, item.Error+o.Error
			item.First, item.Last = min(item.First, o.First), max(item.Last, o.Last)
		} else {
			item.Count, item.Error = item.Count+other.Floor, item.Error+other.Floor
		}
		merged = append(merged, item)
	}
	for _, item := range other.Items {
		if s.index(item.Key) < 0 {
			item.Count, item.Error = item.Count+s.Floor, item.Error+s.Floor
			merged = append(merged, item)
		}
	}
	s.Floor, s.FloorAt = s.Floor+other.Floor, max(s.FloorAt, other.FloorAt)
	s.Items = merged
	s.limit(most)
}

// limit keeps the items with the highest counts.
func (s *Sketch[K]) limit(most int) {
	if len(s.Items) <= most {
		return
	}
	slices.SortStableFunc(s.Items, func(a, b Item[K]) int { return cmp.Compare(b.Count, a.Count) })
	for _, dropped := range s.Items[most:] {
		s.Floor, s.FloorAt = max(s.Floor, dropped.Count), max(s.FloorAt, dropped.Last)
	}
	s.Items = slices.Clone(s.Items[:most])
}

func (s *Sketch[K]) index(key K) int {
	return slices.IndexFunc(s.Items, func(item Item[K]) bool { return item.Key == key })
}

// prune forgets items that did not occur for the time of retention, and what
// displaced items have left behind after that time.
func (s *Sketch[K]) prune(now int64, retention time.Duration) {
	oldest := now - retention.Milliseconds()
	s.Items = slices.DeleteFunc(s.Items, func(item Item[K]) bool { return item.Last < oldest })
	for i := range s.Items {
		s.Items[i].Last = min(s.Items[i].Last, now) // a clock that was wrong keeps nothing for ever
	}
	s.FloorAt = min(s.FloorAt, now)
	if s.FloorAt < oldest {
		s.Floor, s.FloorAt = 0, 0
	}
}

// clone returns a copy that shares nothing but the memory of strings.
func (s *Sketch[K]) clone() Sketch[K] {
	return Sketch[K]{Items: slices.Clone(s.Items), Floor: s.Floor, FloorAt: s.FloorAt}
}
