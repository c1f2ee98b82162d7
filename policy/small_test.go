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

// small chooses what the tests of every small file go through: a slice, or with "i/n" the
// i-th of n parts of all of it, which take hours together.
var small = flag.String("small", "", "go through part i/n of every small file")

// smallPart returns which part of all is asked for, and whether one is.
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

// smallSymbols have every meaning that a path or a rule can have: a letter, and itself in
// an escape, a slash and one in an escape, the operators, a dot and a query.
var smallSymbols = []string{"a", "/", "*", "$", "%2F", "%61", ".", "?"}

// smallTexts returns all texts of up to so many symbols.
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

// smallForm is a form of a target, as the places of each of its bytes.
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

// matches is naiveMatch, with the set of places in a word: bit j stands for the place
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

// smallRules are rules with their canonical forms, of which many share one.
type smallRules struct {
	paths     []string
	of        []int    // by path: which of the patterns
	patterns  []string // "" for those that match nothing
	hasStar   []bool   // by path
	matching  []bool   // by pattern: a form of the target that is looked at matches
	literally []bool   // and a form in which nothing is decoded
}

func newSmallRules(paths []string) *smallRules {
	r, known := &smallRules{paths: paths}, make(map[string]int)
	for _, path := range paths {
		pattern := ""
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

// look finds which patterns match a target, and whether it has literal forms.
func (r *smallRules) look(target string) (hasLiteral bool) {
	literal, all := naiveForms(target)
	r.matching, r.literally = r.match(all), r.match(literal)
	return len(literal) > 0
}

func (r *smallRules) match(texts []string) []bool {
	var forms []*smallForm
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			forms = append(forms, newSmallForm(text))
		}
	}
	found := make([]bool, len(r.patterns))
	for i, pattern := range r.patterns {
		found[i] = pattern != "" && slices.ContainsFunc(forms, func(f *smallForm) bool { return f.matches(pattern) })
	}
	return found
}

// length returns the length of a rule if it matches, 0 if it does not.
func (r *smallRules) length(rule int, matching []bool) int {
	if i := r.of[rule]; matching[i] {
		return len(r.patterns[i])
	}
	return 0
}

// everySmall calls compare for each target in several goroutines, each of which has
// rules of its own, until one fails, and returns how many comparisons there were.
func everySmall(t *testing.T, paths, targets []string, compare func(rules *smallRules, target string, prepared *Target, hasLiteral bool) (n int64)) (n int64) {
	var wg sync.WaitGroup
	var next, sum atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			rules, prepared := newSmallRules(paths), new(Target)
			for i := next.Add(1) - 1; i < int64(len(targets)) && !t.Failed(); i = next.Add(1) - 1 {
				prepared.Set(targets[i], false)
				sum.Add(compare(rules, targets[i], prepared, rules.look(targets[i])))
			}
		})
	}
	wg.Wait()
	return sum.Load()
}

// partOf returns each of n texts, beginning with the first.
func partOf(texts []string, first, n int) (part []string) {
	for i := first; i < len(texts); i += n {
		part = append(part, texts[i])
	}
	return part
}

// TestEverySmallRule judges targets of up to six symbols by rules of up to five, and
// compares the compiled rules and the forms of targets with the naive ones. Without
// -small it is a slice: all rules and targets of up to three, and some of the others.
func TestEverySmallRule(t *testing.T) {
	t.Parallel()
	part, parts, all := smallPart(t)
	judge := func(paths, targets []string) int64 {
		groups := make([]*Selection, len(paths))
		for i, path := range paths {
			groups[i] = Parse([]byte("User-agent: *\nDisallow: " + path + "\n")).Select(true)
		}
		return everySmall(t, paths, targets, func(rules *smallRules, target string, prepared *Target, hasLiteral bool) int64 {
			for i, path := range paths {
				v := groups[i].JudgeTarget(prepared)
				forbids := rules.length(i, rules.matching) > 0
				doubt := forbids && hasLiteral && rules.hasStar[i] && rules.length(i, rules.literally) == 0
				if v.Allowed == forbids || v.Ambiguous != doubt || forbids != (v.Rule.Line == 2) {
					t.Errorf("Disallow: %s and %s: %+v, want allowed %t, ambiguous %t", path, target, v, !forbids, doubt)
				}
			}
			return int64(len(paths))
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
	few := judge(smallTexts(3), smallTexts(3))
	t.Logf("%d comparisons", few+judge(partOf(paths, 3, 41), partOf(targets, 5, n)))
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
	var sum int64
	for _, second := range seconds {
		if t.Failed() {
			return
		}
		for kind, keys := range [][2]string{{"Disallow: ", "Allow: "}, {"Allow: ", "Disallow: "}, {"Disallow: ", "Disallow: "}} {
			groups := make([]*Selection, len(paths))
			for i, first := range paths {
				groups[i] = Parse([]byte("User-agent: *\n" + keys[0] + first + "\n" + keys[1] + second + "\n")).Select(true)
			}
			other := slices.Index(paths, second)
			sum += everySmall(t, paths, targets, func(rules *smallRules, target string, prepared *Target, _ bool) int64 {
				for i, first := range paths {
					// Of the rules that match, by kind the first of the longest: lines 2 and 3.
					one, two := rules.length(i, rules.matching), rules.length(other, rules.matching)
					allowed, line := true, 0
					switch {
					case kind == 0:
						allowed, line = one <= two, 3
					case kind == 1:
						allowed, line = two <= one, 2
					default:
						allowed = one+two == 0
					}
					switch {
					case one == 0 && two == 0:
						line = 0
					case kind == 2 && one >= two || kind == 0 && !allowed:
						line = 2
					case kind == 2 || kind == 1 && !allowed:
						line = 3
					}
					if v := groups[i].JudgeTarget(prepared); v.Allowed != allowed || v.Rule.Line != line {
						t.Errorf("%s%s and %s%s and %s: %+v, want allowed %t by line %d", keys[0], first, keys[1], second, target, v, allowed, line)
					}
				}
				return int64(len(paths))
			})
		}
	}
	t.Logf("%d comparisons", sum)
}
