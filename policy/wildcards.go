package policy

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// pattern is a rule with a wildcard inside, in canonical form and taken apart
// at its first star and, if it is anchored, its last.
type pattern struct {
	prefix   string // what a target starts with
	middle   string // what follows somewhere, in that order, without overlap; parts are separated by stars
	suffix   string // what it ends with, if anchored
	anchored bool
	allow    bool
	length   int32
	rule     int32
}

// matches reports whether the pattern matches. It takes time linear in the
// target: the leftmost place for each part is the best one.
func (p *pattern) matches(target string) bool {
	if !strings.HasPrefix(target, p.prefix) {
		return false
	}
	rest := target[len(p.prefix):]
	if p.anchored {
		var ok bool
		if rest, ok = strings.CutSuffix(rest, p.suffix); !ok {
			return false
		}
	}
	for middle := p.middle; middle != ""; {
		var part string
		part, middle, _ = strings.Cut(middle, "*")
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return true
}

// literals calls yield for each literal of the pattern.
func (p *pattern) literals(yield func(string)) {
	yield(p.prefix)
	for part := range strings.SplitSeq(p.middle, "*") {
		yield(part)
	}
	yield(p.suffix)
}

// fewPatterns is how many patterns are tried one after the other rather than
// looked up.
const fewPatterns = 8

// wildcards finds those of many patterns that match a target. Each pattern is
// filed under one gram, a run of four bytes that a matching target has to
// contain, the one that fewest patterns share. Patterns without four literal
// bytes in a row are filed under two, the few that remain are tried always.
type wildcards struct {
	patterns []pattern // by falling length within each file
	always   []int32   // patterns filed under no gram
	long     gramIndex // of four bytes
	short    gramIndex // of two bytes
}

func newWildcards(patterns []pattern) wildcards {
	w := wildcards{patterns: patterns}
	slices.SortFunc(patterns, func(a, b pattern) int {
		return cmp.Or(-cmp.Compare(a.length, b.length), cmp.Compare(a.rule, b.rule))
	})
	if len(patterns) <= fewPatterns {
		for i := range patterns {
			w.always = append(w.always, int32(i))
		}
		return w
	}
	w.long.size, w.short.size = 4, 2
	all := make([]int32, len(patterns))
	for i := range all {
		all[i] = int32(i)
	}
	w.always = w.short.file(patterns, w.long.file(patterns, all))
	return w
}

// match adds the patterns that match a target to out.
func (w *wildcards) match(target string, form Form, out *outcome) {
	w.try(w.always, target, form, out)
	if len(w.always) < len(w.patterns) {
		w.long.match(w, target, form, out)
		w.short.match(w, target, form, out)
	}
}

// try matches patterns, given by falling length.
func (w *wildcards) try(patterns []int32, target string, form Form, out *outcome) {
	for _, i := range patterns {
		p := &w.patterns[i]
		if p.length < max(out.allow.length, out.disallow.length) {
			return
		}
		if out.matters(p.allow, p.length, p.rule) && p.matches(target) {
			out.take(p.allow, p.length, p.rule, form)
		}
	}
}

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
	from, to int32 // range of filed; empty for a free slot
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
			x.grams(s, func(gram uint32) {
				if c := count(gram); *c < 1<<16-1 {
					*c++
				}
			})
		})
	}
	type entry struct {
		gram    uint32
		pattern int32
	}
	entries := make([]entry, 0, len(which))
	for _, i := range which {
		rarest, found := uint32(0), false
		patterns[i].literals(func(s string) {
			x.grams(s, func(gram uint32) {
				if !found || *count(gram) < *count(rarest) {
					rarest, found = gram, true
				}
			})
		})
		if !found {
			without = append(without, i)
			continue
		}
		entries = append(entries, entry{rarest, i})
	}
	if len(entries) == 0 {
		return without
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.gram, b.gram), cmp.Compare(a.pattern, b.pattern))
	})
	bits := uint(6)
	for 1<<bits < 2*len(entries) {
		bits++
	}
	x.shift = 32 - bits
	x.slots = make([]gramSlot, 1<<bits)
	x.filter = make([]uint64, 1<<bits/4) // sixteen bits for each slot
	x.filed = make([]int32, len(entries))
	for from := 0; from < len(entries); {
		gram, to := entries[from].gram, from
		for ; to < len(entries) && entries[to].gram == gram; to++ {
			x.filed[to] = entries[to].pattern
		}
		hash := gram * gramMultiplier
		x.filter[hash>>(x.shift-4)>>6] |= 1 << (hash >> (x.shift - 4) & 63)
		slot := hash >> x.shift
		for x.slots[slot].to != 0 {
			slot = (slot + 1) & uint32(len(x.slots)-1)
		}
		x.slots[slot] = gramSlot{gram, int32(from), int32(to)}
		from = to
	}
	return without
}

// grams calls yield for each gram of s.
func (x *gramIndex) grams(s string, yield func(uint32)) {
	var gram uint32
	for i := range len(s) {
		gram = gram<<8 | uint32(s[i])
		if i+1 >= x.size {
			yield(gram & x.mask())
		}
	}
}

func (x *gramIndex) mask() uint32 { return 1<<(8*x.size) - 1 }

// seenSlots remembers the slots that a match has been through, so that a
// target which repeats one gram does not have its patterns tried each time.
type seenSlots struct{ bits []uint64 }

var seenPool = sync.Pool{New: func() any { return new(seenSlots) }}

// match tries the patterns whose gram the target contains.
func (x *gramIndex) match(w *wildcards, target string, form Form, out *outcome) {
	if len(x.slots) == 0 || len(target) < x.size {
		return
	}
	var seen *seenSlots
	mask, shift := x.mask(), x.shift-4
	gram := uint32(0)
	for i := range x.size - 1 {
		gram = gram<<8 | uint32(target[i])
	}
	for i := x.size - 1; i < len(target); i++ {
		gram = (gram<<8 | uint32(target[i])) & mask
		hash := gram * gramMultiplier
		if x.filter[hash>>shift>>6]>>(hash>>shift&63)&1 == 0 {
			continue
		}
		slot := hash >> x.shift
		for x.slots[slot].to != 0 && x.slots[slot].gram != gram {
			slot = (slot + 1) & uint32(len(x.slots)-1)
		}
		if x.slots[slot].to == 0 {
			continue
		}
		if seen == nil {
			seen = seenPool.Get().(*seenSlots)
			seen.reset(len(x.slots))
		}
		if seen.visit(slot) {
			w.try(x.filed[x.slots[slot].from:x.slots[slot].to], target, form, out)
		}
	}
	if seen != nil {
		seenPool.Put(seen)
	}
}

// reset forgets everything and makes room for n slots.
func (s *seenSlots) reset(n int) {
	words := (n + 63) / 64
	if cap(s.bits) < words {
		s.bits = make([]uint64, words)
		return
	}
	s.bits = s.bits[:words]
	clear(s.bits)
}

// visit marks a slot and reports whether it was unmarked.
func (s *seenSlots) visit(slot uint32) bool {
	word, bit := &s.bits[slot>>6], uint64(1)<<(slot&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}
