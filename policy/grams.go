package policy

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
)

// gramSize is the length of a gram: consecutive bytes of a pattern, none of them a star.
const gramSize = 4

// gramIndex finds the patterns that can match a target, without a comparison of all patterns. Each
// pattern is stored under one of its grams, and a target without this gram cannot match the
// pattern.
type gramIndex struct {
	slots []gramSlot // slots is a hash table with open addressing.
	shift uint       // shift is the shift from the hash of a gram to its first slot.
	// filter has a bit for each hash of a gram in slots. The hash is filterBits longer than for slots.
	filter         []uint64
	patternsByGram []int32 // patternsByGram has the indices of the patterns, grouped by gram.
}

// gramSlot has the patterns that are stored under one gram.
type gramSlot struct {
	gram             uint32
	from, to         int32  // This is a range of gramIndex.patternsByGram. It is empty if the slot is free.
	offset           int32  // offset is the index of the gram in surroundingBytes.
	surroundingBytes string // surroundingBytes are the bytes around the gram that all these patterns have.
}

// filterBits makes the filter 16 times as long as the table, which limits collisions.
const filterBits = 4

// maxContextLength is the maximum length in bytes of a context before the gram, and also from the
// start of the gram on.
const maxContextLength = 16

// newGramIndex returns an index with each pattern under its rarest gram. withoutGram are the
// indices of the patterns that have no gram and are not in the index.
func newGramIndex(patterns []pattern) (x gramIndex, withoutGram []int32) {
	var counts [4096]uint32 // This is the number of grams by mixed hash. Equal hashes only make the choice worse.
	for i := range patterns {
		for _, gram := range patterns[i].allGrams {
			counts[hashGramThoroughly(gram)>>20]++
		}
	}
	entries := make([]uint64, 0, len(patterns)) // These are a gram and a pattern.
	offsets := make([]int, len(patterns))       // This is the offset of the gram in the pattern.
	for i := range patterns {
		rarestCount, rarest := uint32(0), uint32(0)
		for offset, gram := range patterns[i].allGrams {
			if n := counts[hashGramThoroughly(gram)>>20]; rarestCount == 0 || n <= rarestCount {
				rarestCount, rarest, offsets[i] = n, gram, offset
			}
		}
		if rarestCount == 0 {
			withoutGram = append(withoutGram, int32(i))
		} else {
			entries = append(entries, uint64(rarest)<<32|uint64(i))
		}
	}
	slices.Sort(entries)
	x.setSize(len(entries))
	for from, entry := range entries {
		gram, i := uint32(entry>>32), uint32(entry)
		x.patternsByGram[from] = int32(i)
		context, offset := patterns[i].gramContext(offsets[i])
		slot := x.findSlot(gram)
		if slot.to == 0 {
			bit := hashGram(gram) >> (x.shift - filterBits)
			x.filter[bit>>6] |= 1 << (bit & 63)
			*slot = gramSlot{gram, int32(from), int32(from), int32(offset), context}
		}
		slot.to++
		slot.narrowContext(context, offset)
	}
	return x, withoutGram
}

// setSize allocates the tables of an empty index for n patterns.
func (x *gramIndex) setSize(n int) {
	log := max(6, bits.Len(uint(2*n)))
	x.shift = uint(32 - log)
	x.slots = make([]gramSlot, 1<<log)
	x.filter = make([]uint64, 1<<(log+filterBits-6))
	x.patternsByGram = make([]int32, n)
}

// findSlot returns the slot of a gram. If the gram is not in the index, findSlot returns the free
// slot for it.
func (x *gramIndex) findSlot(gram uint32) *gramSlot {
	i := hashGram(gram) >> (x.shift & 31)
	for x.slots[i].to != 0 && x.slots[i].gram != gram {
		i = (i + 1) & uint32(len(x.slots)-1)
	}
	return &x.slots[i]
}

// narrowContext removes the bytes from the slot's context that another pattern does not have around
// the gram. offset is the index of the gram in context.
func (s *gramSlot) narrowContext(context string, offset int) {
	before := 0
	for before < min(int(s.offset), offset) && s.surroundingBytes[int(s.offset)-1-before] == context[offset-1-before] {
		before++
	}
	after := commonPrefix(s.surroundingBytes[s.offset:], context[offset:])
	s.surroundingBytes, s.offset = s.surroundingBytes[int(s.offset)-before:int(s.offset)+after], int32(before)
}

// gramMultiplier is odd and random for each process, so that a robots.txt cannot cause hash
// collisions. Multiplicative hashing, after Dietzfelbinger and others, "A Reliable Randomized
// Algorithm for the Closest-Pair Problem" (1997).
var gramMultiplier = rand.Uint32() | 1

// hashGram returns a hash of a gram in its first bits.
func hashGram(gram uint32) uint32 { return gram * gramMultiplier }

// hashGramThoroughly is a slower hash, in which every bit of the gram changes all bits. With
// hashGram, a few multipliers give frequent grams the same first bits. The steps are the finalizer
// of MurmurHash3.
func hashGramThoroughly(gram uint32) uint32 {
	h := gram ^ gramMultiplier
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// readGram returns the gram that starts at text[i], as a number.
func readGram(text string, i int) uint32 {
	return binary.LittleEndian.Uint32([]byte(text[i : i+gramSize]))
}

// allGrams yields each gram of the pattern with its index in the text.
func (p *pattern) allGrams(yield func(offset int, gram uint32) bool) {
	for begin := 0; begin < len(p.text); {
		end := indexByteFrom(p.text, begin, '*')
		for i := begin; i+gramSize <= end; i++ {
			if !yield(i, readGram(p.text, i)) {
				return
			}
		}
		begin = end + 1
	}
}

// gramContext returns the bytes of the pattern around the gram at offset: up to maxContextLength
// before the gram and up to maxContextLength from its start on, without a star. gramStart is the
// index of the gram in context.
func (p *pattern) gramContext(offset int) (context string, gramStart int) {
	before := p.text[max(offset-maxContextLength, 0):offset]
	before = before[strings.LastIndexByte(before, '*')+1:]
	after, _, _ := strings.Cut(p.text[offset:min(offset+maxContextLength, len(p.text))], "*")
	return p.text[offset-len(before) : offset+len(after)], len(before)
}

// addCandidates sets the bit of each indexed pattern that can match a target.
func (x *gramIndex) addCandidates(target string, found []uint64) {
	for i := x.nextGram(target, 0); i >= 0; i = x.nextGram(target, i+1) {
		slot := x.findSlot(readGram(target, i))
		if slot.to == 0 {
			continue
		}
		start, first := i-int(slot.offset), x.patternsByGram[slot.from]
		if start < 0 || !strings.HasPrefix(target[start:], slot.surroundingBytes) || found[first>>6]>>(first&63)&1 != 0 {
			continue // A pattern is in one slot only, so all of them were found before.
		}
		for _, p := range x.patternsByGram[slot.from:slot.to] {
			found[p>>6] |= 1 << (p & 63)
		}
	}
}

// nextGram returns the index of the next gram in target, from the index from on, that may be in the
// index of patterns. The result is -1 if there is none.
func (x *gramIndex) nextGram(target string, from int) int {
	filter, shift := x.filter, (x.shift-filterBits)&31
	for ; from+8 <= len(target); from += 4 { // This reads four grams at once.
		window := binary.LittleEndian.Uint64([]byte(target[from : from+8]))
		a := hashGram(uint32(window)) >> shift
		b := hashGram(uint32(window>>8)) >> shift
		c := hashGram(uint32(window>>16)) >> shift
		d := hashGram(uint32(window>>24)) >> shift
		hits := filter[a>>6]>>(a&63)&1 | filter[b>>6]>>(b&63)&1<<1 | filter[c>>6]>>(c&63)&1<<2 | filter[d>>6]>>(d&63)&1<<3
		if hits != 0 {
			return from + bits.TrailingZeros64(hits)
		}
	}
	for ; from+gramSize <= len(target); from++ {
		if bit := hashGram(readGram(target, from)) >> shift; filter[bit>>6]>>(bit&63)&1 != 0 {
			return from
		}
	}
	return -1
}
