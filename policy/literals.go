package policy

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// literal is a rule without a wildcard inside: it matches the targets that
// start with its text or, if it is anchored, that text alone.
type literal struct {
	text     string
	anchored bool
	allow    bool
	length   int32
	rule     int32
}

// literals finds the best of many literal rules. Their texts are sorted, so
// that every text which starts a target is the greatest text not above the
// target, or the longest text that this one starts with, or the longest that
// that one starts with, and so on: one binary search and a walk up.
type literals struct {
	texts   []string
	entries []literalEntry
	// Of many texts the first bytes behind what all begin with, as numbers: most steps of
	// the search compare these alone.
	keys   []uint64
	common int // bytes that all texts begin with
}

type literalEntry struct {
	parent int32   // the longest other text that this one starts with; -1 if none
	prefix outcome // the best rules that match whatever starts with the text
	exact  outcome // the best rules that match the text alone
}

func newLiterals(rules []literal) literals {
	if len(rules) == 0 {
		return literals{}
	}
	slices.SortFunc(rules, func(a, b literal) int {
		return cmp.Or(strings.Compare(a.text, b.text), cmp.Compare(a.rule, b.rule))
	})
	distinct := 1
	for i := 1; i < len(rules); i++ {
		if rules[i].text != rules[i-1].text {
			distinct++
		}
	}
	l := literals{texts: make([]string, 0, distinct), entries: make([]literalEntry, 0, distinct)}
	for _, x := range rules {
		last := int32(len(l.texts) - 1)
		if last < 0 || l.texts[last] != x.text {
			parent := last
			for parent >= 0 && !strings.HasPrefix(x.text, l.texts[parent]) {
				parent = l.entries[parent].parent
			}
			e := literalEntry{parent: parent}
			if parent >= 0 {
				e.prefix = l.entries[parent].prefix
			}
			l.texts, l.entries = append(l.texts, x.text), append(l.entries, e)
			last++
		}
		if x.anchored {
			l.entries[last].exact.take(x.allow, x.length, x.rule, 0)
		} else {
			l.entries[last].prefix.take(x.allow, x.length, x.rule, 0)
		}
	}
	l.addKeys()
	return l
}

// fewLiterals is how many texts are searched without keys.
const fewLiterals = 16

func (l *literals) addKeys() {
	if len(l.texts) <= fewLiterals {
		return
	}
	l.common = commonPrefix(l.texts[0], l.texts[len(l.texts)-1])
	l.keys = make([]uint64, len(l.texts))
	for i, text := range l.texts {
		l.keys[i] = keyOf(text[l.common:])
	}
}

// keyOf returns the first bytes of a text as a number. It grows with the text, and of
// different texts it may be the same.
func keyOf(text string) (key uint64) {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64([]byte(text[:8]))
	}
	for i := range len(text) {
		key |= uint64(text[i]) << (56 - 8*i)
	}
	return key
}

// match adds the best literal rules for a target to out.
func (l *literals) match(target string, form Form, out *outcome) {
	i := l.find(target)
	if i < 0 {
		return
	}
	e := &l.entries[i]
	out.takeAll(&e.prefix, form)
	if len(l.texts[i]) == len(target) {
		out.takeAll(&e.exact, form)
	}
}

// find returns the entry of the longest text that a target starts with, -1 if it
// starts with none.
func (l *literals) find(target string) (i int32) {
	low, high := l.narrow(target)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if l.texts[mid] <= target {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if i = int32(low - 1); i < 0 {
		return i
	}
	common := commonPrefix(l.texts[i], target)
	for i >= 0 && len(l.texts[i]) > common {
		i = l.entries[i].parent
	}
	return i
}

// narrow returns between which texts the greatest is to be found that is not above a
// target.
func (l *literals) narrow(target string) (low, high int) {
	if high = len(l.texts); l.keys == nil {
		return 0, high
	}
	if len(target) < l.common || target[:l.common] != l.texts[0][:l.common] {
		return 0, 0 // it starts with no text
	}
	key := keyOf(target[l.common:])
	for low < high {
		if mid := int(uint(low+high) >> 1); l.keys[mid] <= key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if high > 0 && l.keys[high-1] == key {
		return 0, high // the texts themselves tell
	}
	return high, high
}

// takeAll records the matches of a literal.
func (o *outcome) takeAll(found *outcome, form Form) {
	o.take(true, found.allow.length, found.allow.rule, form)
	o.take(false, found.disallow.length, found.disallow.rule, form)
}

// commonPrefix returns how many bytes a and b have in common at the start.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
