package policy

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// pattern is a rule with a wildcard inside, in canonical form and taken apart
// at its first star and, if it is anchored, its last.
type pattern struct {
	prefix   string // what a target starts with
	middle   string // what follows somewhere, in that order, without overlap; parts are separated by stars
	suffix   string // what it ends with, if anchored
	anchored bool
	single   bool // the middle is one part
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
// bytes in a row are filed under two, the few that remain are tried always. A
// pattern is a candidate where up to four bytes before its gram are right too.
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

// indexed reports whether there are patterns that are not always tried.
func (w *wildcards) indexed() bool { return len(w.always) < len(w.patterns) }

// find returns the patterns, but for those that are always tried, whose gram a
// target contains in any form; nil if there are none.
func (w *wildcards) find(spellings []spelling) (found *candidates) {
	for i := range spellings {
		found = w.long.find(&spellings[i], len(w.patterns), found)
		found = w.short.find(&spellings[i], len(w.patterns), found)
	}
	return found
}

// match adds the patterns that match a target to out: the found ones and those
// that are always tried.
func (w *wildcards) match(target string, form Form, found *candidates, out *outcome) {
	for _, i := range w.always {
		if !w.try(int(i), target, form, out) {
			break
		}
	}
	if found == nil {
		return
	}
	for word, set := range found.bits {
		for ; set != 0; set &= set - 1 {
			if !w.try(word<<6|bits.TrailingZeros64(set), target, form, out) {
				return
			}
		}
	}
}

// try matches a pattern. It reports whether longer ones, which come first, left
// anything to win.
func (w *wildcards) try(i int, target string, form Form, out *outcome) bool {
	p := &w.patterns[i]
	if p.length < max(out.allow.length, out.disallow.length) {
		return false
	}
	if out.matters(p.allow, p.length, p.rule) && p.matches(target) {
		out.take(p.allow, p.length, p.rule, form)
	}
	return true
}
