package policy

import (
	"slices"
	"testing"
)

// smallPairs are the kinds of two rules, of which the first stands in line 2 and the second
// in line 3.
var smallPairs = []struct {
	first, second string
	// read judges by their lengths, of which the one that does not match has 0.
	read func(first, second int) (allowed bool, line int)
}{
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
		return false, 2 // the first of the longest
	}},
}

// TestEveryPairOfSmallRules judges targets of up to four symbols by two rules of up to
// three: one that forbids and one that allows, in both orders, and two that forbid.
// Without -small it is a slice.
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
			groups := make([]*Selection, len(paths))
			for i, first := range paths {
				groups[i] = Parse([]byte("User-agent: *\n" + pair.first + first + "\n" + pair.second + second + "\n")).Select(true)
			}
			sum += everySmall(t, len(blocks), func(n int) int64 {
				b := blocks[n]
				for i, first := range paths {
					for j, target := range b.targets {
						v := groups[i].JudgeTarget(&b.prepared[j])
						allowed, line := pair.read(b.length(i, b.all, j), b.length(other, b.all, j))
						doubt := false
						if !allowed {
							literally, _ := pair.read(b.length(i, b.literal, j), b.length(other, b.literal, j))
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
