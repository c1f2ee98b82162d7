package policy

import (
	"flag"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// small selects the inputs of the exhaustive tests. The default is a sample. "i/n" is the i-th of n
// parts of all inputs, which take hours together.
var small = flag.String("small", "", "go through part i/n of every small file")

// smallPart returns the requested part. all is false for the sample.
func smallPart(t *testing.T) (part, parts int, all bool) {
	t.Helper()
	if *small == "" {
		return 0, 1, false
	}
	if n, err := fmt.Sscanf(*small, "%d/%d", &part, &parts); n != 2 || err != nil || part < 1 || part > parts {
		t.Fatalf("-small is %q; write it as 1/8, from 1/8 to 8/8", *small)
	}
	return part - 1, parts, true
}

// smallSymbols have every meaning in a path or a rule: a letter and a slash, each also escaped, the
// operators, a dot and a query.
var smallSymbols = []string{"a", "/", "*", "$", "%2F", "%61", ".", "?"}

// smallTexts returns all texts of up to most symbols.
func smallTexts(most int) (all []string) {
	last := []string{""}
	for range most {
		var next []string
		for _, text := range last {
			for _, symbol := range smallSymbols {
				next = append(next, text+symbol)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// smallForm is a form of a target, as the positions of each byte.
type smallForm struct {
	length int
	places [128]uint64
}

func newSmallForm(text string) *smallForm {
	f := &smallForm{length: len(text)}
	for i := range len(text) {
		f.places[text[i]] |= 1 << i
	}
	return f
}

// matches does the work of naiveMatch with the set of positions in a word. Bit j is the position
// before byte j.
func (f *smallForm) matches(pattern string) bool {
	at := uint64(1)
	for i := range len(pattern) {
		switch c := pattern[i]; {
		case c == '*':
			at = ^(1<<bits.TrailingZeros64(at) - 1) & (1<<(f.length+1) - 1)
		case c == '$' && i == len(pattern)-1:
			at &= 1 << f.length
		default:
			at = at & f.places[c] << 1
		}
		if at == 0 {
			return false
		}
	}
	return true
}

// smallRules are rules with their canonical forms. Many rules share a form.
type smallRules struct {
	paths    []string
	of       []int  // by path: index of the pattern
	hasStar  []bool // by path
	patterns []string
	found    sync.Map // by form of a target: the matching patterns, []int
}

func newSmallRules(paths []string) *smallRules {
	r, known := &smallRules{paths: paths}, make(map[string]int)
	for _, path := range paths {
		pattern := "" // a rule that matches nothing
		if path[0] == '/' || path[0] == '*' {
			pattern = naiveCanonical(path, true)
		}
		i, ok := known[pattern]
		if !ok {
			i = len(r.patterns)
			known[pattern] = i
			r.patterns = append(r.patterns, pattern)
		}
		r.of, r.hasStar = append(r.of, i), append(r.hasStar, strings.Contains(path, "*"))
	}
	return r
}

// matching returns the patterns that match a form of a target. The result is cached, because many
// targets share the form.
func (r *smallRules) matching(form string) []int {
	if known, ok := r.found.Load(form); ok {
		return known.([]int)
	}
	var found []int
	places := newSmallForm(form)
	for i, pattern := range r.patterns {
		if pattern != "" && places.matches(pattern) {
			found = append(found, i)
		}
	}
	r.found.Store(form, found)
	return found
}

// smallBlock is up to 64 targets, one for each bit of a word. Rules are judged one by one, because
// all targets fit into the CPU cache and all rules do not.
type smallBlock struct {
	rules      *smallRules
	targets    []string
	prepared   []Target
	paths      [][]naivePath
	hasLiteral uint64       // the target has literal forms
	literal    smallMatches // in literal forms
	all        smallMatches // in any form
}

const smallBlockSize = 64

// smallMatches are the targets that a pattern matches, by pattern. The first are for a disallow
// rule, the second for an allow rule.
type smallMatches [2][]uint64

// add records the patterns that match a form of the j-th target.
func (m *smallMatches) add(r *smallRules, form naiveForm, j int) {
	for _, i := range r.matching(form.text) {
		m[1][i] |= 1 << j
		if !form.allowOnly {
			m[0][i] |= 1 << j
		}
	}
}

// block finds the patterns that match each target.
func (r *smallRules) block(targets []string) *smallBlock {
	n := len(r.patterns)
	b := &smallBlock{rules: r, targets: targets, prepared: make([]Target, len(targets)), paths: make([][]naivePath, len(targets)), literal: smallMatches{make([]uint64, n), make([]uint64, n)}, all: smallMatches{make([]uint64, n), make([]uint64, n)}}
	for j, target := range targets {
		b.prepared[j].Set(target, false)
		b.paths[j] = naivePaths(target)
		for _, path := range b.paths[j] {
			if len(path.literal) > 0 {
				b.hasLiteral |= 1 << j
			}
			for _, form := range path.literal {
				b.literal.add(r, form, j)
			}
			for _, form := range path.all {
				b.all.add(r, form, j)
			}
		}
	}
	return b
}

// length returns the length of a rule that matches the j-th target, or 0.
func (b *smallBlock) length(rule int, matching []uint64, j int) int {
	if i := b.rules.of[rule]; matching[i]>>j&1 == 1 {
		return len(b.rules.patterns[i])
	}
	return 0
}

// inDoubt reports whether compliant crawlers may disagree that a rule disallows the j-th target.
// allowedLiterally means that the literal forms are allowed.
func (b *smallBlock) inDoubt(rule, j int, allowedLiterally bool) bool {
	return allowedLiterally && b.hasLiteral>>j&1 == 1 && b.rules.hasStar[rule]
}

// everySmall calls compare for each of n blocks in several goroutines until a call fails.
// everySmall returns the number of comparisons.
func everySmall(t *testing.T, n int, compare func(i int) (n int64)) int64 {
	var wg sync.WaitGroup
	var next, sum atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && !t.Failed(); i = next.Add(1) - 1 {
				sum.Add(compare(int(i)))
			}
		})
	}
	wg.Wait()
	return sum.Load()
}

// partOf returns every n-th text from the first on.
func partOf(texts []string, first, n int) (part []string) {
	for i := first; i < len(texts); i += n {
		part = append(part, texts[i])
	}
	return part
}

// TestEverySmallRule judges targets of up to six symbols by rules of up to five symbols, and
// compares rules and forms with the naive implementation. Without -small it uses rules of up to
// three symbols with targets of up to four, the reverse, and a sample of the others.
func TestEverySmallRule(t *testing.T) {
	t.Parallel()
	part, parts, all := smallPart(t)
	judge := func(paths, targets []string) int64 {
		groups := make([]*SelectedGroup, len(paths))
		for i, path := range paths {
			groups[i] = Parse([]byte("User-agent: *\nDisallow: " + path + "\n")).Select(true)
		}
		rules, blocks := newSmallRules(paths), slices.Collect(slices.Chunk(targets, smallBlockSize))
		return everySmall(t, len(blocks), func(n int) int64 {
			b := rules.block(blocks[n])
			for i, path := range paths {
				for j, target := range b.targets {
					v := groups[i].JudgeTarget(&b.prepared[j])
					forbids := b.length(i, b.all[0], j) > 0
					doubt := forbids && b.inDoubt(i, j, b.length(i, b.literal[0], j) == 0)
					if v.Allowed == forbids || v.Ambiguous != doubt || forbids != (v.Rule.Line == 2) {
						t.Errorf("Disallow: %s and %s: %+v, want allowed %t, ambiguous %t", path, target, v, !forbids, doubt)
					}
				}
			}
			return int64(len(paths) * len(b.targets))
		})
	}
	paths, targets := smallTexts(5), smallTexts(6)
	if all {
		t.Logf("%d comparisons", judge(paths, partOf(targets, part, parts)))
		return
	}
	n := 997
	if raceEnabled {
		n *= 20
	}
	few := judge(smallTexts(3), smallTexts(4)) + judge(smallTexts(4), smallTexts(3))
	t.Logf("%d comparisons", few+judge(partOf(paths, 3, 41), partOf(targets, 5, n)))
}
