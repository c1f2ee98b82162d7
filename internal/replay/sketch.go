package replay

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// sketch counts the most frequent of many different keys in fixed memory: the
// Space-Saving algorithm of Metwally, Agrawal and El Abbadi (2005). A key that
// is new when the sketch is full takes the place of the rarest and its count, so
// a count is never too low, and too high by at most its error.
type sketch struct {
	most  int
	seed  maphash.Seed
	index map[uint64]int32 // hash of a key to its place in heap
	heap  []sketchEntry    // the rarest first
}

// sketchEntry is a key and its count.
type sketchEntry struct {
	key    []byte
	hash   uint64
	count  uint64
	excess uint64 // by how much the count may be too high
}

// newSketch returns a sketch of at most so many keys.
func newSketch(most int) *sketch {
	return &sketch{most: most, seed: sketchSeed, index: make(map[uint64]int32, most)}
}

// sketchSeed is the same for all sketches, so that they can be merged, and not
// known to those who choose the keys.
var sketchSeed = maphash.MakeSeed()

// add counts a key n times. It keeps a copy of the key in memory that it has
// already, once the sketch is full.
func (s *sketch) add(key []byte, n uint64) { s.put(key, maphash.Bytes(s.seed, key), n, 0) }

func (s *sketch) put(key []byte, hash uint64, n, excess uint64) {
	if i, ok := s.index[hash]; ok {
		s.heap[i].count += n
		s.heap[i].excess += excess
		s.down(int(i))
		return
	}
	if len(s.heap) < s.most {
		s.heap = append(s.heap, sketchEntry{key: append([]byte(nil), key...), hash: hash, count: n, excess: excess})
		s.index[hash] = int32(len(s.heap) - 1)
		s.up(len(s.heap) - 1)
		return
	}
	rarest := &s.heap[0]
	delete(s.index, rarest.hash)
	rarest.key = append(rarest.key[:0], key...)
	rarest.hash, rarest.excess = hash, rarest.count+excess
	rarest.count += n
	s.index[hash] = 0
	s.down(0)
}

// floor is what a key that is not there may have been counted.
func (s *sketch) floor() uint64 {
	if len(s.heap) < s.most {
		return 0
	}
	return s.heap[0].count
}

// merge takes in the counts of another sketch. The sum of two sketches of one
// size is one of that size again (Agarwal and others, Mergeable Summaries, 2012).
func (s *sketch) merge(other *sketch) {
	mine, theirs := s.floor(), other.floor()
	sum := make([]sketchEntry, 0, len(s.heap)+len(other.heap))
	for _, e := range s.heap {
		if i, ok := other.index[e.hash]; ok {
			e.count += other.heap[i].count
			e.excess += other.heap[i].excess
		} else {
			e.count += theirs
			e.excess += theirs
		}
		sum = append(sum, e)
	}
	for _, e := range other.heap {
		if _, ok := s.index[e.hash]; !ok {
			e.count += mine
			e.excess += mine
			sum = append(sum, e)
		}
	}
	slices.SortFunc(sum, func(a, b sketchEntry) int { return cmp.Compare(b.count, a.count) })
	s.heap = s.heap[:0:0]
	clear(s.index)
	for _, e := range sum[:min(len(sum), s.most)] {
		s.put(e.key, e.hash, e.count, e.excess)
	}
}

// top returns the entries, the most frequent first.
func (s *sketch) top() []sketchEntry {
	sorted := slices.Clone(s.heap)
	slices.SortFunc(sorted, func(a, b sketchEntry) int {
		if c := cmp.Compare(b.count, a.count); c != 0 {
			return c
		}
		return slices.Compare(a.key, b.key)
	})
	return sorted
}

func (s *sketch) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.index[s.heap[i].hash], s.index[s.heap[j].hash] = int32(i), int32(j)
}

func (s *sketch) up(i int) {
	for i > 0 && s.heap[i].count < s.heap[(i-1)/2].count {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (s *sketch) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.heap); child++ {
			if s.heap[child].count < s.heap[least].count {
				least = child
			}
		}
		if least == i {
			return
		}
		s.swap(i, least)
		i = least
	}
}
