package policy

import (
	"maps"
	"slices"
	"strings"
)

// pieces are the parts between the stars of many patterns, as [wildcards.walk] needs
// them: a piece knows which others it starts with, and a pattern which pieces it waits
// for, one after the other.
//
// The pieces that one starts with are its line of descent, of which each has a number.
// Lines are cut into runs of numbers, so that each line is a few runs, and a few words of
// a set tell which of its pieces are waited for. It is a heavy-light decomposition of the
// tree (Sleator and Tarjan 1983), and a run one of its heavy paths.
type pieces struct {
	sorted   prefixes
	number   []int32 // by place in sorted
	most     int     // bytes of one
	lengths  []int32 // in bytes, by number, as are those that follow
	runFrom  []int32 // the first number of the run
	above    []int32 // the number of what the run descends from; -1 if it is a root
	sequence []int32 // numbers of the pieces of each pattern, with -1 behind its last
	from     []int32 // where those of a pattern begin
}

func newPieces(patterns []pattern) *pieces {
	numbers := make(map[string]int32)
	count := len(patterns)
	for i := range patterns {
		for piece := range patterns[i].pieces() {
			numbers[piece] = 0
			count++
		}
	}
	x := &pieces{sorted: newPrefixes(slices.Sorted(maps.Keys(numbers)))}
	x.addNumbers()
	for i, text := range x.sorted.texts {
		x.most = max(x.most, len(text))
		numbers[text] = x.number[i]
	}
	x.sequence, x.from = make([]int32, 0, count), make([]int32, len(patterns))
	for i := range patterns {
		x.from[i] = int32(len(x.sequence))
		for piece := range patterns[i].pieces() {
			x.sequence = append(x.sequence, numbers[piece])
		}
		x.sequence = append(x.sequence, -1)
	}
	return x
}

// pieces returns the parts of the middle, of which there may be none.
func (p *pattern) pieces() func(yield func(string) bool) {
	if p.middle == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(p.middle, "*")
}

// begins returns the number of the longest piece that a text begins with, -1 if it begins
// with none, and how many bytes had to be compared for that.
func (x *pieces) begins(text string) (number int32, compared int) {
	i, common := x.sorted.nearest(text)
	if i < 0 {
		return -1, 0
	}
	last := x.number[i]
	for last >= 0 && int(x.lengths[x.runFrom[last]]) > common {
		last = x.above[last]
	}
	if last >= 0 && int(x.lengths[last]) > common { // some of its run do, the shorter ones
		first := x.runFrom[last]
		fitting, _ := slices.BinarySearch(x.lengths[first:last], int32(common+1))
		last = first + int32(fitting) - 1
	}
	return last, common
}

// addNumbers cuts the tree into runs. Each goes on with the child that most pieces
// descend from, so that whoever leaves a run comes to less than half of them.
func (x *pieces) addNumbers() {
	parents := x.sorted.parents
	n := len(parents)
	descendants, heir := make([]int32, n), make([]int32, n)
	for i := n - 1; i >= 0; i-- { // what starts with a text stands behind it
		if parent := parents[i]; parent >= 0 {
			descendants[parent] += descendants[i] + 1
			if h := heir[parent]; h == 0 || descendants[i] >= descendants[h] {
				heir[parent] = int32(i) // never 0, which has no parent
			}
		}
	}
	x.number, x.lengths = make([]int32, n), make([]int32, n)
	x.runFrom, x.above = make([]int32, n), make([]int32, n)
	next := int32(0)
	for i, parent := range parents {
		if parent >= 0 && heir[parent] == int32(i) {
			continue // in its parent's run
		}
		above := int32(-1)
		if parent >= 0 {
			above = x.number[parent]
		}
		runFrom := next
		for at := int32(i); ; at = heir[at] {
			x.number[at], x.lengths[next] = next, int32(len(x.sorted.texts[at]))
			x.runFrom[next], x.above[next] = runFrom, above
			next++
			if heir[at] == 0 {
				break
			}
		}
	}
}
