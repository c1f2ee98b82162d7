package policy

import (
	"slices"
	"testing"
)

// smallPair is a kind of two rules.
type smallPair struct {
	first, second string // keys of the rules
	// read returns the verdict from the lengths of both rules. A rule that does not match has the
	// length 0.
	read func(first, second int) (allowed bool, line int)
}

// smallPairs are the kinds of two rules. The rules are in lines 2 and 3.
var smallPairs = []smallPair{
	{"Disallow: ", "Allow: ", func(first, second int) (bool, int) {
		switch {
		case first > second:
			return false, 2
		case second > 0:
			return true, 3
		}
		return true, 0
	}},
	{"Allow: ", "Disallow: ", func(first, second int) (bool, int) {
		switch {
		case second > first:
			return false, 3
		case first > 0:
			return true, 2
		}
		return true, 0
	}},
	{"Disallow: ", "Disallow: ", func(first, second int) (bool, int) {
		switch {
		case first == 0 && second == 0:
			return true, 0
		case second > first:
			return false, 3
		}
		return false, 2 // the longest, or the first of two with equal length
	}},
}

// TestEveryPairOfSmallRules judges targets of up to four symbols by two rules of up to three
// symbols. The pairs are allow and disallow in both orders, and two disallow rules. Without -small
// it uses a sample.
func TestEveryPairOfSmallRules(t *testing.T) {
	t.Parallel()
	part, parts, all := smallPart(t)
	paths, targets := smallTexts(3), smallTexts(4)
	seconds := partOf(paths, part, parts)
	if !all {
		seconds, targets = partOf(paths, 1, 83), partOf(targets, 3, 17)
	}
	if !all && raceEnabled {
		seconds = seconds[:1]
	}
	rules := newSmallRules(paths)
	var blocks []*smallBlock
	for some := range slices.Chunk(targets, smallBlockSize) {
		blocks = append(blocks, rules.block(some))
	}
	var sum int64
	for _, second := range seconds {
		other := slices.Index(paths, second)
		for _, pair := range smallPairs {
			if t.Failed() {
				return
			}
			groups := make([]*SelectedGroup, len(paths))
			for i, first := range paths {
				groups[i] = Parse([]byte("User-agent: *\n" + pair.first + first + "\n" + pair.second + second + "\n")).Select(true)
			}
			sum += everySmall(t, len(blocks), func(n int) int64 {
				b := blocks[n]
				for i, first := range paths {
					for j, target := range b.targets {
						v := groups[i].JudgeTarget(&b.prepared[j])
						allowed, line := b.read(pair, i, other, j, false)
						doubt := false
						if !allowed {
							literally, _ := b.read(pair, i, other, j, true)
							doubt = b.inDoubt([]int{i, other}[line-2], j, literally)
						}
						if v.Allowed != allowed || v.Rule.Line != line || v.Ambiguous != doubt {
							t.Errorf("%s%s and %s%s and %s: %+v, want allowed %t by line %d, ambiguous %t", pair.first, first, pair.second, second, target, v, allowed, line, doubt)
						}
					}
				}
				return int64(len(paths) * len(b.targets))
			})
		}
	}
	t.Logf("%d comparisons", sum)
}

// read returns the verdict on the j-th target by two rules, in all forms or only in the literal
// forms. A disallowed path decides over several paths.
func (b *smallBlock) read(pair smallPair, first, second, j int, literal bool) (allowed bool, line int) {
	kinds, by := [2]int{kindOf(pair.first), kindOf(pair.second)}, pair.read
	matching := b.all
	if literal {
		matching = b.literal
	}
	if allowed, line = by(b.length(first, matching[kinds[0]], j), b.length(second, matching[kinds[1]], j)); len(b.paths[j]) == 1 {
		return allowed, line
	}
	allowed, line = true, 0
	longest := 0
	for _, path := range b.paths[j] {
		forms := path.all
		if literal {
			forms = path.literal
		}
		lengths := map[int]int{2: b.rules.longest(first, forms, kinds[0]), 3: b.rules.longest(second, forms, kinds[1])}
		ok, decides := by(lengths[2], lengths[3])
		switch length := lengths[decides]; {
		case ok && !allowed:
		case ok != allowed, length > longest, length == longest && decides > 0 && decides < line:
			allowed, line, longest = ok, decides, length
		}
	}
	return allowed, line
}

// kindOf returns the index of a key's kind in smallMatches.
func kindOf(key string) int {
	if key == "Allow: " {
		return 1
	}
	return 0
}

// longest returns the length of a rule that matches one of the forms, or 0.
func (r *smallRules) longest(rule int, forms []naiveForm, kind int) int {
	i := r.of[rule]
	if slices.ContainsFunc(forms, func(form naiveForm) bool {
		return (kind == 1 || !form.allowOnly) && slices.Contains(r.matching(form.text), i)
	}) {
		return len(r.patterns[i])
	}
	return 0
}
