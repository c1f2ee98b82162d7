package policy

import (
	"encoding/binary"
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
	places []gramPlace // by place in filed
}

// gramPlace is where in a pattern the gram begins that it is filed under: in which of its three
// texts, in the lowest two bits, and where in that.
type gramPlace int32

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
		x.grams(&patterns[i], func(gram, _ uint32, _ gramPlace) {
			if c := count(gram); *c < 1<<16-1 {
				*c++
			}
		})
	}
	entries := make([]uint64, 0, len(which)) // gram and pattern
	befores, places := make([]uint32, len(patterns)), make([]gramPlace, len(patterns))
	for _, i := range which {
		least, rarest := uint32(1<<16), uint32(0)
		x.grams(&patterns[i], func(gram, before uint32, place gramPlace) {
			if n := uint32(*count(gram)); n <= least {
				least, rarest, befores[i], places[i] = n, gram, before, place
			}
		})
		if least == 1<<16 {
			without = append(without, i)
			continue
		}
		entries = append(entries, uint64(rarest)<<32|uint64(i))
	}
	if len(entries) == 0 {
		return without
	}
	slices.Sort(entries)
	log := uint(6)
	for 1<<log < 2*len(entries) {
		log++
	}
	x.shift = 32 - log
	x.slots = make([]gramSlot, 1<<log)
	x.filter = make([]uint64, 1<<log/4) // sixteen bits for each slot
	x.filed, x.places = make([]int32, len(entries)), make([]gramPlace, len(entries))
	for from := 0; from < len(entries); {
		gram, to := uint32(entries[from]>>32), from
		before := befores[uint32(entries[from])]
		for ; to < len(entries) && uint32(entries[to]>>32) == gram; to++ {
			x.filed[to] = int32(uint32(entries[to]))
			x.places[to] = places[x.filed[to]]
			same := bits.TrailingZeros32(before^befores[x.filed[to]]) &^ 7
			before &= 1<<same - 1
		}
		hash := gram * gramMultiplier
		x.filter[hash>>(x.shift-4)>>6] |= 1 << (hash >> (x.shift - 4) & 63)
		*x.slot(gram) = gramSlot{gram, before, int32(from), int32(to)}
		from = to
	}
	return without
}

// grams calls yield for each gram of the pattern's literals, up to four bytes before
// it in the same literal and where it begins.
func (x *gramIndex) grams(p *pattern, yield func(gram, before uint32, place gramPlace)) {
	for which, text := range p.texts() {
		var window uint64 // of the literal up to here
		n := 0
		for i := range len(text) {
			if text[i] == '*' {
				window, n = 0, 0
				continue
			}
			window = window<<8 | uint64(text[i])
			if n++; n >= x.size {
				yield(bits.ReverseBytes32(uint32(window))>>(32-8*x.size), uint32(window>>(8*x.size)), gramPlace((i+1-x.size)<<2|which))
			}
		}
	}
}

// at returns the gram that begins at s[i], and up to four bytes before it with the last
// lowest; no text has the bytes 0 that stand for missing ones.
func (x *gramIndex) at(s string, i int) (gram, before uint32) {
	if i >= 4 && i+4 <= len(s) {
		return binary.LittleEndian.Uint32([]byte(s[i:i+4])) & x.mask(), binary.BigEndian.Uint32([]byte(s[i-4 : i]))
	}
	for k := range x.size {
		gram |= uint32(s[i+k]) << (8 * k)
	}
	for _, c := range []byte(s[max(i-4, 0):i]) {
		before = before<<8 | uint32(c)
	}
	return gram, before
}

func (x *gramIndex) mask() uint32 { return 1<<(8*x.size) - 1 }

// isAfter reports whether a slot's gram may follow the four bytes before.
func (s *gramSlot) isAfter(before uint32) bool {
	return (s.before^before)<<(bits.LeadingZeros32(s.before)&^7) == 0
}

// find adds the patterns whose gram stands in a text. Left out is what stands only in runs
// of eight bytes that end at from or before, or begin at to or behind: these stand in an
// earlier form of the target, too, see [spelling]. With whole, patterns are also left out
// where the literal around the gram does not stand in the text.
func (x *gramIndex) find(text string, from, to int, whole bool, patterns []pattern, found *candidates) *candidates {
	if len(x.slots) == 0 {
		return found
	}
	const reach = 7 // bytes of a gram and of what stands before it, less one
	text = text[:min(to+reach, len(text))]
	for i, slot := x.next(text, max(from-reach, 0)); i >= 0; i, slot = x.next(text, i+1) {
		_, before := x.at(text, i)
		switch {
		case !slot.isAfter(before):
		case whole && slot.to-slot.from <= fewFiled:
			for k := slot.from; k < slot.to; k++ {
				if patterns[x.filed[k]].stands(text, i, x.places[k]) {
					found = found.add(x.filed[k:k+1], len(patterns))
				}
			}
		default:
			found = found.add(x.filed[slot.from:slot.to], len(patterns))
		}
	}
	return found
}

// fewFiled is how many patterns under one gram are looked at each time that it stands in a
// target, and comparedAround how many bytes of each before the gram and from there on.
const (
	fewFiled       = 4
	comparedAround = 16
)

// stands reports whether the literal of a pattern, or what is near to its gram, stands in a text
// where the gram does.
func (p *pattern) stands(text string, at int, place gramPlace) bool {
	literal, gram := p.texts()[place&3], int(place>>2)
	for i := 1; i <= min(gram, comparedAround) && literal[gram-i] != '*'; i++ {
		if i > at || text[at-i] != literal[gram-i] {
			return false
		}
	}
	for i := gram; i < min(len(literal), gram+comparedAround) && literal[i] != '*'; i++ {
		if j := at + i - gram; j >= len(text) || text[j] != literal[i] {
			return false
		}
	}
	return true
}

// next returns where from a place on the next gram begins that is filed, and its slot, -1 if
// none does.
func (x *gramIndex) next(text string, from int) (int, *gramSlot) {
	filter, multiplier, shift, mask := x.filter, gramMultiplier, (x.shift-4)&31, x.mask()
	for ; from+8 <= len(text); from += 4 {
		window := binary.LittleEndian.Uint64([]byte(text[from : from+8]))
		a := uint32(window) & mask * multiplier >> shift
		b := uint32(window>>8) & mask * multiplier >> shift
		c := uint32(window>>16) & mask * multiplier >> shift
		d := uint32(window>>24) & mask * multiplier >> shift
		if (filter[a>>6]>>(a&63)|filter[b>>6]>>(b&63)|filter[c>>6]>>(c&63)|filter[d>>6]>>(d&63))&1 == 0 {
			continue
		}
		for i := range 4 {
			if slot := x.filedUnder(uint32(window>>(8*i)) & mask); slot != nil {
				return from + i, slot
			}
		}
	}
	for ; from+x.size <= len(text); from++ {
		gram, _ := x.at(text, from)
		if slot := x.filedUnder(gram); slot != nil {
			return from, slot
		}
	}
	return -1, nil
}

// filedUnder returns the slot of a gram, nil if nothing is filed under it.
func (x *gramIndex) filedUnder(gram uint32) *gramSlot {
	if hash := gram * gramMultiplier >> ((x.shift - 4) & 31); x.filter[hash>>6]>>(hash&63)&1 == 0 {
		return nil
	}
	if slot := x.slot(gram); slot.to != 0 {
		return slot
	}
	return nil
}

// slot returns the place of a gram: where it is or, if it is not, a free one.
func (x *gramIndex) slot(gram uint32) *gramSlot {
	i := gram * gramMultiplier >> (x.shift & 31)
	for x.slots[i].to != 0 && x.slots[i].gram != gram {
		i = (i + 1) & uint32(len(x.slots)-1)
	}
	return &x.slots[i]
}

// candidates is a set of patterns, a bit for each, that a target may match in some form.
// Nil is the empty set.
type candidates struct {
	bits   []uint64
	walker *walker // that goes through the forms, nil before it does
}

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
	if c == nil {
		return
	}
	if c.walker != nil {
		c.walker.release()
		c.walker = nil
	}
	candidatesPool.Put(c)
}
