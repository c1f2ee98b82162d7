package policy

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

// gramIndex files patterns under runs of bytes.
type gramIndex struct {
	size   int      // bytes of a gram
	filter []uint64 // a bit for each hash of a gram that is filed
	slots  []gramSlot
	shift  uint
	filed  []int32
}

// gramSlot is a place in an open-addressing table.
type gramSlot struct {
	gram     uint32
	before   uint32 // what all the patterns have before the gram, up to four bytes; zeros for more
	from, to int32  // range of filed; empty for a free slot
}

// gramMultiplier spreads grams over a table. It is odd and another one in each
// process, so that nobody can write a robots.txt whose grams fall together:
// multiplicative hashing, after Dietzfelbinger and others, "A Reliable
// Randomized Algorithm for the Closest-Pair Problem" (1997).
var gramMultiplier = rand.Uint32() | 1

// file files the patterns of the given indices and returns those that have no
// gram.
func (x *gramIndex) file(patterns []pattern, which []int32) (without []int32) {
	// Counts of grams, by hash; a collision only costs a better choice.
	var counts [4096]uint16
	count := func(gram uint32) *uint16 { return &counts[gram*gramMultiplier>>20] }
	for _, i := range which {
		patterns[i].literals(func(s string) {
			x.grams(s, func(gram, _ uint32) {
				if c := count(gram); *c < 1<<16-1 {
					*c++
				}
			})
		})
	}
	type entry struct {
		gram, before uint32
		pattern      int32
	}
	entries := make([]entry, 0, len(which))
	for _, i := range which {
		rarest, found := entry{pattern: i}, false
		patterns[i].literals(func(s string) {
			x.grams(s, func(gram, before uint32) {
				if !found || *count(gram) <= *count(rarest.gram) {
					rarest.gram, rarest.before, found = gram, before, true
				}
			})
		})
		if !found {
			without = append(without, i)
			continue
		}
		entries = append(entries, rarest)
	}
	if len(entries) == 0 {
		return without
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.gram, b.gram), cmp.Compare(a.pattern, b.pattern))
	})
	log := uint(6)
	for 1<<log < 2*len(entries) {
		log++
	}
	x.shift = 32 - log
	x.slots = make([]gramSlot, 1<<log)
	x.filter = make([]uint64, 1<<log/4) // sixteen bits for each slot
	x.filed = make([]int32, len(entries))
	for from := 0; from < len(entries); {
		gram, before, to := entries[from].gram, entries[from].before, from
		for ; to < len(entries) && entries[to].gram == gram; to++ {
			x.filed[to] = entries[to].pattern
			same := bits.TrailingZeros32(before^entries[to].before) &^ 7
			before &= 1<<same - 1
		}
		hash := gram * gramMultiplier
		x.filter[hash>>(x.shift-4)>>6] |= 1 << (hash >> (x.shift - 4) & 63)
		*x.slot(gram) = gramSlot{gram, before, int32(from), int32(to)}
		from = to
	}
	return without
}

// grams calls yield for each gram of s and the four bytes before it.
func (x *gramIndex) grams(s string, yield func(gram, before uint32)) {
	var window uint64
	for i := range len(s) {
		window = window<<8 | uint64(s[i])
		if i+1 >= x.size {
			yield(x.split(window))
		}
	}
}

func (x *gramIndex) mask() uint32 { return 1<<(8*x.size) - 1 }

// isAfter reports whether a slot's gram may follow the four bytes before.
func (s *gramSlot) isAfter(before uint32) bool {
	return (s.before^before)<<(bits.LeadingZeros32(s.before)&^7) == 0
}

// find adds the patterns whose gram stands in the text that is new in s.
func (x *gramIndex) find(s *spelling, patterns int, found *candidates) *candidates {
	if len(x.slots) == 0 {
		return found
	}
	const before = 7 // bytes of the window but the last
	end := min(s.to+before, len(s.text))
	var window uint64 // text up to here; no text has the bytes 0 that it starts with
	for _, c := range []byte(s.text[max(s.from-before, 0):s.from]) {
		window = window<<8 | uint64(c)
	}
	for rest := s.text[s.from:end]; ; {
		rest, window = x.skip(rest, window)
		gram, before := x.split(window)
		if slot := x.slot(gram); slot.to > 0 && slot.isAfter(before) {
			found = found.add(x.filed[slot.from:slot.to], patterns)
		}
		if rest == "" {
			return found
		}
	}
}

// skip reads text to the end of the next gram that the filter knows, or to the
// end of the text.
func (x *gramIndex) skip(text string, window uint64) (string, uint64) {
	filter, multiplier, shift, mask := x.filter, gramMultiplier, (x.shift-4)&31, x.mask()
	for i := range len(text) {
		window = window<<8 | uint64(text[i])
		hash := uint32(window) & mask * multiplier >> shift
		if filter[hash>>6]>>(hash&63)&1 != 0 {
			return text[i+1:], window
		}
	}
	return "", window
}

// split returns the gram that ends a window and the four bytes before it.
func (x *gramIndex) split(window uint64) (gram, before uint32) {
	return uint32(window) & x.mask(), uint32(window >> (8 * x.size))
}

// slot returns the place of a gram: where it is or, if it is not, a free one.
func (x *gramIndex) slot(gram uint32) *gramSlot {
	i := gram * gramMultiplier >> (x.shift & 31)
	for x.slots[i].to != 0 && x.slots[i].gram != gram {
		i = (i + 1) & uint32(len(x.slots)-1)
	}
	return &x.slots[i]
}

// candidates is a set of patterns, a bit for each. Nil is the empty set.
type candidates struct{ bits []uint64 }

var candidatesPool = sync.Pool{New: func() any { return new(candidates) }}

// add adds the patterns of one slot to a set of at most n.
func (c *candidates) add(patterns []int32, n int) *candidates {
	if c == nil {
		c = candidatesPool.Get().(*candidates)
		c.reset(n)
	}
	first := patterns[0]
	if c.bits[first>>6]>>(first&63)&1 != 0 {
		return c // the slot was there before: no pattern is in two
	}
	for _, i := range patterns {
		c.bits[i>>6] |= 1 << (i & 63)
	}
	return c
}

// reset empties the set and makes room for n patterns.
func (c *candidates) reset(n int) {
	words := (n + 63) / 64
	if cap(c.bits) < words {
		c.bits = make([]uint64, words)
		return
	}
	c.bits = c.bits[:words]
	clear(c.bits)
}

// release gives the memory of the set back.
func (c *candidates) release() {
	if c != nil {
		candidatesPool.Put(c)
	}
}
