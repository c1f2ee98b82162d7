package policy

import (
	"cmp"
	"math"
	"math/bits"
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
	single   bool // the middle is one part, or empty
	allow    bool
	length   int32
	rule     int32
}

// texts returns what the pattern is taken apart into.
func (p *pattern) texts() [3]string { return [...]string{p.prefix, p.middle, p.suffix} }

// matches reports whether the pattern matches. It takes time linear in the
// target: the leftmost place for each part is the best one.
func (p *pattern) matches(target string) bool {
	return p.fits(target) && p.holds(target)
}

// fits reports whether a target starts and ends as the pattern does.
func (p *pattern) fits(target string) bool {
	return strings.HasPrefix(target, p.prefix) && strings.HasSuffix(target[len(p.prefix):], p.suffix)
}

// holds reports whether the middle stands in a target that fits.
func (p *pattern) holds(target string) bool {
	rest := target[len(p.prefix) : len(target)-len(p.suffix)]
	if p.single {
		return strings.Contains(rest, p.middle)
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

// fewPatterns is how many patterns are tried one after the other rather than
// looked up.
const fewPatterns = 8

// wildcards finds those of many patterns that match a target. Each pattern is
// filed under one gram, a run of four bytes that a matching target has to
// contain, the one that fewest patterns share. Patterns without four literal
// bytes in a row are filed under two, the few that remain are tried always. A
// pattern is a candidate where up to four bytes before its gram are right too.
type wildcards struct {
	patterns []pattern      // by falling length within each file
	always   []int32        // patterns filed under no gram
	long     gramIndex      // of four bytes
	short    gramIndex      // of two bytes
	allForms bool           // are looked through for literals, as one may stand in another form than the decoded one
	cut      func() *pieces // cuts the patterns when a target is first walked through; nil if there are few
}

func newWildcards(patterns []pattern) wildcards {
	patterns = byLength(patterns)
	w := wildcards{patterns: patterns}
	if len(patterns) <= fewPatterns {
		for i := range patterns {
			w.always = append(w.always, int32(i))
		}
		return w
	}
	w.cut = sync.OnceValue(func() *pieces { return newPieces(patterns) })
	w.allForms = slices.ContainsFunc(patterns, pattern.needsAllForms)
	w.long.size, w.short.size = 4, 2
	all := make([]int32, len(patterns))
	for i := range all {
		all[i] = int32(i)
	}
	w.always = w.short.file(patterns, w.long.file(patterns, all))
	return w
}

// byLength returns the patterns by falling length and, where that is the same, in their
// order.
func byLength(patterns []pattern) []pattern {
	if len(patterns) <= fewPatterns {
		slices.SortStableFunc(patterns, func(a, b pattern) int { return cmp.Compare(b.length, a.length) })
		return patterns
	}
	keys := make([]uint64, len(patterns))
	for i := range patterns {
		keys[i] = uint64(^uint32(patterns[i].length))<<32 | uint64(i)
	}
	slices.Sort(keys)
	all := make([]pattern, len(patterns))
	for i, key := range keys {
		all[i] = patterns[uint32(key)]
	}
	return all
}

// indexed reports whether there are patterns that are not always tried.
func (w *wildcards) indexed() bool { return len(w.always) < len(w.patterns) }

// needsAllForms reports whether a target may have a literal of the pattern in some form though
// not in its decoded one: if it has what is decoded there, or may begin within that.
func (p pattern) needsAllForms() bool {
	for _, text := range p.texts() {
		last := byte('*') // so that each literal is behind one
		for i := range len(text) {
			c := text[i]
			switch {
			case c == '%' && isDecoded(text[i+1:]), c == '/' && last == '/',
				last == '*' && (c == 'F' || c == 'C' || isDecoded(text[i:])):
				return true
			}
			last = c
		}
	}
	return false
}

// isDecoded reports whether a text starts with what is behind the % in the escape of a
// slash, a backslash or a question mark.
func isDecoded(text string) bool {
	return strings.HasPrefix(text, "2F") || strings.HasPrefix(text, "3F") || strings.HasPrefix(text, "5C")
}

// find returns the patterns, but for those that are always tried, whose gram a
// target contains in any form; nil if there are none.
func (w *wildcards) find(spellings []spelling) (found *candidates) {
	for i := range spellings {
		if s := &spellings[i]; len(spellings) == 1 || s.decoded && !w.allForms {
			found = w.long.find(s.text, 0, len(s.text), true, w.patterns, nil)
			return w.short.find(s.text, 0, len(s.text), true, w.patterns, found)
		}
	}
	for _, s := range spellings {
		if s.isLeftOut() {
			continue
		}
		found = w.long.find(s.text, s.from, s.to, false, w.patterns, found)
		found = w.short.find(s.text, s.from, s.to, false, w.patterns, found)
	}
	return found
}

// match adds the patterns that match a target to out: the found ones and those
// that are always tried.
func (w *wildcards) match(target string, form Form, found *candidates, out *outcome) {
	if w.tryAll(target, form, found, out, manyTries) && !w.walk(target, form, found, out) {
		w.tryAll(target, form, found, out, math.MaxInt)
	}
}

// tryAll tries the found patterns and those that are always tried. It reports whether
// it has stopped after so many tries.
func (w *wildcards) tryAll(target string, form Form, found *candidates, out *outcome, tries int) bool {
	for _, i := range w.always {
		if !w.try(int(i), target, form, out, &tries) {
			break
		}
	}
	if found != nil {
		w.tryFound(target, form, found, out, &tries)
	}
	return tries <= 0
}

// tryFound tries the found patterns.
func (w *wildcards) tryFound(target string, form Form, found *candidates, out *outcome, tries *int) {
	for word, set := range found.bits {
		for ; set != 0; set &= set - 1 {
			if !w.try(word<<6|bits.TrailingZeros64(set), target, form, out, tries) {
				return
			}
		}
	}
}

// try matches a pattern. It reports whether longer ones, which come first, left
// anything to win and whether there were not too many tries.
func (w *wildcards) try(i int, target string, form Form, out *outcome, tries *int) bool {
	p := &w.patterns[i]
	if p.length < max(out.allow.length, out.disallow.length) {
		return false
	}
	if out.matters(p.allow, p.length, p.rule) && p.fits(target) {
		if *tries--; p.holds(target) {
			out.take(p.allow, p.length, p.rule, form)
		}
	}
	return *tries > 0
}
