package policy

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// prefixIndex finds which of its texts are prefixes of a target. A binary search finds the last
// text in sorted order that is not greater than the target. Every prefix of the target is this
// text, or is reached from it by following parents.
type prefixIndex struct {
	texts   []string // The texts are sorted and have no duplicates.
	parents []int32  // For each text, this is the index of the longest other text that is its prefix, or -1.
	// keys are the first eight bytes of each text after the common prefix of all texts, as numbers.
	// Most steps of the search compare only keys. keys is nil for few texts.
	keys         []uint64
	commonLength int // This is the length of the common prefix of all texts. It is 0 without keys.
}

// newPrefixIndex returns an index of texts, which must be sorted and without duplicates.
func newPrefixIndex(texts []string) prefixIndex {
	p := prefixIndex{texts: texts, parents: make([]int32, len(texts))}
	for i, text := range texts {
		parent := int32(i - 1)
		for parent >= 0 && !strings.HasPrefix(text, texts[parent]) {
			parent = p.parents[parent]
		}
		p.parents[i] = parent
	}
	p.addKeys()
	return p
}

// maxUnkeyedPrefixes is the maximum number of texts that are compared without keys.
const maxUnkeyedPrefixes = 16

// addKeys sets keys and commonLength, unless there are few texts.
func (p *prefixIndex) addKeys() {
	if len(p.texts) <= maxUnkeyedPrefixes {
		return
	}
	p.commonLength = commonPrefix(p.texts[0], p.texts[len(p.texts)-1])
	p.keys = make([]uint64, len(p.texts))
	for i, text := range p.texts {
		p.keys[i] = prefixKey(text[p.commonLength:])
	}
}

// prefixKey returns the first eight bytes of a text as a number. If a text is smaller than another,
// its key is smaller or equal.
func prefixKey(text string) (key uint64) {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64([]byte(text[:8]))
	}
	for i := range len(text) {
		key |= uint64(text[i]) << (56 - 8*i)
	}
	return key
}

// findLongestPrefix returns the index of the longest text that is a prefix of target, or -1.
func (p *prefixIndex) findLongestPrefix(target string) int32 {
	low, high := p.searchRange(target)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if p.texts[mid] <= target {
			low = mid + 1
		} else {
			high = mid
		}
	}
	i := int32(low - 1) // This is the greatest text that is not above the target.
	if i < 0 {
		return i
	}
	common := commonPrefix(p.texts[i], target)
	for i >= 0 && len(p.texts[i]) > common {
		i = p.parents[i]
	}
	return i
}

// searchRange returns a range of indices. The last text that is not greater than target is in the
// range or just before it.
func (p *prefixIndex) searchRange(target string) (low, high int) {
	if high = len(p.texts); p.keys == nil {
		return 0, high
	}
	if len(target) < p.commonLength || target[:p.commonLength] != p.texts[0][:p.commonLength] {
		return 0, 0 // No text is a prefix.
	}
	key := prefixKey(target[p.commonLength:])
	for low < high {
		if mid := int(uint(low+high) >> 1); p.keys[mid] <= key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if high > 0 && p.keys[high-1] == key {
		return 0, high // From here on, the texts are compared.
	}
	return high, high
}

// commonPrefix returns the length of the common prefix of a and b in bytes.
func commonPrefix(a, b string) (n int) {
	for ; len(a)-n >= 8 && len(b)-n >= 8; n += 8 {
		if x := binary.LittleEndian.Uint64([]byte(a[n:n+8])) ^ binary.LittleEndian.Uint64([]byte(b[n:n+8])); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
