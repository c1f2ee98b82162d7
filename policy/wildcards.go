package policy

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// pattern is a rule with a wildcard inside, in canonical form.
type pattern struct {
	text   string // without a final dollar or stars, and with one star for each run of stars
	star   int32  // index of the first star; a target starts with the part before
	end    int32  // index after the last star if anchored, else the length of text; a target ends with the rest
	single bool   // no star is between star and end
	allow  bool
	length int32
	rule   int32
}

// stepsPerSearch is the minimum cost of a search for one part of a pattern, in bytes of a
// target.
const stepsPerSearch = 8

// matches reports whether a pattern matches a target, and the work. It takes the leftmost
// position of each part between two stars, so the work is linear in the target and the
// pattern.
func (p *pattern) matches(target string) (ok bool, steps int) {
	steps = stepsPerSearch
	prefix, suffix := p.text[:p.star], p.text[p.end:]
	if !strings.HasPrefix(target, prefix) || !strings.HasSuffix(target[len(prefix):], suffix) {
		return false, steps
	}
	rest := target[len(prefix) : len(target)-len(suffix)]
	for parts := p.text[p.star+1 : p.end]; parts != ""; {
		part := parts
		if p.single {
			parts = ""
		} else {
			part, parts, _ = strings.Cut(parts, "*")
		}
		i := strings.Index(rest, part)
		if i < 0 {
			return false, steps + len(rest)
		}
		steps += i + len(part) + stepsPerSearch
		rest = rest[i+len(part):]
	}
	return true, steps
}

// fewPatterns is the number of patterns up to which they are tried one by one.
const fewPatterns = 8

// wildcards finds the longest patterns that match a target.
type wildcards struct {
	patterns []pattern // by descending length, then in file order
	always   []uint64  // a bit for each pattern that is missing in the index
	index    gramIndex
}

func newWildcards(patterns []pattern) wildcards {
	slices.SortFunc(patterns, func(a, b pattern) int {
		return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(a.rule, b.rule))
	})
	w := wildcards{patterns: patterns, always: make([]uint64, (len(patterns)+63)/64)}
	if len(patterns) <= fewPatterns {
		if len(patterns) > 0 {
			w.always[0] = 1<<len(patterns) - 1
		}
		return w
	}
	var without []int32
	w.index, without = newGramIndex(patterns)
	for _, i := range without {
		w.always[i>>6] |= 1 << (i & 63)
	}
	return w
}

// maxSteps is the maximum work of one verdict in one interpretation, in compared bytes. It
// corresponds to a few milliseconds. Ordinary files need less than a quarter for a target of
// 8,000 bytes.
const maxSteps = 4 << 20

// search is the work of one verdict.
type search struct {
	left  int       // remaining steps; negative if the search was stopped
	found *foundSet // nil until needed
}

func newSearch() search { return search{left: maxSteps} }

// isGivenUp reports whether the search exceeded maxSteps. The outcome is then incomplete, and the
// target is allowed.
func (s *search) isGivenUp() bool { return s.left < 0 }

// release ends the search.
func (s *search) release() {
	if s.found != nil {
		foundSets.Put(s.found)
	}
}

// foundSet is a set of patterns, a bit for each.
type foundSet struct{ bits []uint64 }

var foundSets = sync.Pool{New: func() any { return new(foundSet) }}

// find returns the patterns that may match a target.
func (w *wildcards) find(target string, s *search) []uint64 {
	if len(w.index.slots) == 0 {
		return w.always
	}
	if s.found == nil {
		s.found = foundSets.Get().(*foundSet)
	}
	s.found.bits = append(s.found.bits[:0], w.always...)
	w.index.find(target, s.found.bits)
	return s.found.bits
}

// match adds the patterns that match a target to out. Patterns are sorted by descending
// length, so it stops when no later pattern can win.
func (w *wildcards) match(target string, form Form, s *search, out *outcome) {
	if s.isGivenUp() {
		return
	}
	for word, set := range w.find(target, s) {
		for ; set != 0; set &= set - 1 {
			p := &w.patterns[word<<6|bits.TrailingZeros64(set)]
			if p.length < max(out.allow.length, out.disallow.length) {
				return
			}
			if !out.matters(p.allow, p.length, p.rule) {
				continue
			}
			ok, steps := p.matches(target)
			if s.left -= steps; s.isGivenUp() {
				return
			}
			if ok {
				out.take(p.allow, p.length, p.rule, form)
			}
		}
	}
}
