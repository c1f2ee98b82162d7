package policy

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// pattern is a rule in canonical form with a wildcard before its end.
type pattern struct {
	text      string // text has no final dollar or stars. Each run of stars is one star.
	firstStar int32  // firstStar is the index of the first star. A target starts with the part before it.
	// suffixStart is the index after the last star if the rule is anchored, else the length of text. A
	// target ends with the rest.
	suffixStart   int32
	hasSinglePart bool // No star is between firstStar and suffixStart.
	allow         bool
	length        int32 // length is the length of the rule in canonical form, as in ruleMatch.
	rule          int32 // rule is the index into Robots.rules.
}

// stepsPerSearch is the minimum cost of the search for one part of a pattern, in compared bytes.
const stepsPerSearch = 8

// matches reports whether the pattern matches a target. steps is the cost in compared bytes. Each
// part between two stars is searched only once, at its first possible place, so the cost is at most
// proportional to the lengths of the pattern and the target.
func (p *pattern) matches(target string) (ok bool, steps int) {
	steps = stepsPerSearch
	prefix, suffix := p.text[:p.firstStar], p.text[p.suffixStart:]
	if !strings.HasPrefix(target, prefix) || !strings.HasSuffix(target[len(prefix):], suffix) {
		return false, steps
	}
	rest := target[len(prefix) : len(target)-len(suffix)]
	for parts := p.text[p.firstStar+1 : p.suffixStart]; parts != ""; {
		part := parts
		if p.hasSinglePart {
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

// maxUnindexedPatterns is the maximum number of patterns that are tried without an index.
const maxUnindexedPatterns = 8

// patternSet finds the longest patterns of a group that match a target.
type patternSet struct {
	patterns          []pattern // The patterns are in order of descending length, then in file order.
	unindexedPatterns []uint64  // This has a bit for each pattern that is missing in the index.
	index             gramIndex
}

// newPatternSet compiles patterns. It reorders its argument.
func newPatternSet(patterns []pattern) patternSet {
	slices.SortFunc(patterns, func(a, b pattern) int {
		return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(a.rule, b.rule))
	})
	w := patternSet{patterns: patterns, unindexedPatterns: make([]uint64, (len(patterns)+63)/64)}
	if len(patterns) <= maxUnindexedPatterns {
		if len(patterns) > 0 {
			w.unindexedPatterns[0] = 1<<len(patterns) - 1
		}
		return w
	}
	var withoutGram []int32
	w.index, withoutGram = newGramIndex(patterns)
	for _, i := range withoutGram {
		w.unindexedPatterns[i>>6] |= 1 << (i & 63)
	}
	return w
}

// maxSteps is the maximum work of one verdict in one interpretation, in compared bytes, which takes
// a few milliseconds. Ordinary files need less than a quarter for a target of 8,000 bytes.
const maxSteps = 4 << 20

// searchBudget bounds the work of one verdict.
type searchBudget struct {
	stepsLeft  int            // stepsLeft is the number of remaining steps. It is negative if the search was stopped.
	candidates *patternBitSet // candidates is memory for candidateBits. It is nil until it is needed.
}

// newSearchBudget returns a budget of maxSteps.
func newSearchBudget() searchBudget { return searchBudget{stepsLeft: maxSteps} }

// isExhausted reports whether the search was stopped because it exceeded maxSteps. The matches
// found are then incomplete, and the target must be allowed.
func (s *searchBudget) isExhausted() bool { return s.stepsLeft < 0 }

// release returns the memory of the search to its pool.
func (s *searchBudget) release() {
	if s.candidates != nil {
		patternBitSetPool.Put(s.candidates)
	}
}

// patternBitSet is a set of patterns: bit i is set if the set contains pattern i.
type patternBitSet struct{ bits []uint64 }

var patternBitSetPool = sync.Pool{New: func() any { return new(patternBitSet) }}

// candidateBits returns the patterns that may match a target, as the bits of a patternBitSet.
func (w *patternSet) candidateBits(target string, s *searchBudget) []uint64 {
	if len(w.index.slots) == 0 {
		return w.unindexedPatterns
	}
	if s.candidates == nil {
		s.candidates = patternBitSetPool.Get().(*patternBitSet)
	}
	s.candidates.bits = append(s.candidates.bits[:0], w.unindexedPatterns...)
	w.index.addCandidates(target, s.candidates.bits)
	return s.candidates.bits
}

// addMatches adds the patterns that match one variant of a target to out. Patterns are sorted by
// descending length, so addMatches stops when no later pattern can change the result.
func (w *patternSet) addMatches(target string, normalization Normalization, s *searchBudget, out *bestMatches) {
	if s.isExhausted() {
		return
	}
	for word, set := range w.candidateBits(target, s) {
		for ; set != 0; set &= set - 1 {
			p := &w.patterns[word<<6|bits.TrailingZeros64(set)]
			if p.length < max(out.allow.length, out.disallow.length) {
				return
			}
			if !out.canImproveWith(p.allow, p.length, p.rule) {
				continue
			}
			ok, steps := p.matches(target)
			if s.stepsLeft -= steps; s.isExhausted() {
				return
			}
			if ok {
				out.add(p.allow, p.length, p.rule, normalization)
			}
		}
	}
}
