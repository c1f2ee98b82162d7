package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestWalk walks through targets with very many patterns, and compares what is found with
// what each pattern finds alone: with pieces that overlap, begin with each other or stand
// nowhere, with runs of one letter, and with patterns that are held at both ends. Some
// targets begin and end as the one before.
func TestWalk(t *testing.T) {
	seeds := uint64(300)
	if raceEnabled {
		seeds = 30
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 7))
		letters := []string{"ab", "abc", "aaaaaaab", "abcdefgh/"}[seed%4]
		text := func(most int) string {
			var b strings.Builder
			for range random.IntN(most) {
				b.WriteByte(letters[random.IntN(len(letters))])
			}
			return b.String()
		}
		var c compiler
		for i := range 20 + random.IntN(200) {
			path := "/" + text(3)
			for range 1 + random.IntN(4) {
				path += "*" + text(1+random.IntN(12))
			}
			if random.IntN(3) == 0 {
				path += "$"
			}
			c.add(path, random.IntN(3) == 0, int32(i))
		}
		w := newWildcards(c.patterns)
		if w.cut == nil {
			continue
		}
		all := new(candidates)
		all.reset(len(w.patterns))
		for i := range w.patterns {
			if !slices.Contains(w.always, int32(i)) {
				all.bits[i>>6] |= 1 << (i & 63)
			}
		}
		target := "/"
		for i := range 50 {
			if i%3 == 0 {
				target = "/" + text(1+random.IntN(60))
			} else { // as a form is of the one before it
				from := 1 + random.IntN(len(target))
				target = target[:from] + text(5) + target[from+random.IntN(len(target)-from+1):]
			}
			var want, got, again outcome
			for i := range w.patterns {
				if p := &w.patterns[i]; p.matches(target) {
					want.take(p.allow, p.length, p.rule, 0)
				}
			}
			if !w.walk(target, 0, all, &got) {
				t.Fatalf("seed %d, %q: short pieces are too long to walk with", seed, target)
			}
			w.match(target, 0, w.find([]spelling{spelled(target, 0)}), &again)
			for how, got := range map[string]outcome{"walking": got, "matching": again} {
				if got.allowed() != want.allowed() || want.allowed() && got.allow != want.allow || !want.allowed() && got.disallow != want.disallow {
					t.Fatalf("seed %d, %q: %s finds %+v, want %+v", seed, target, how, got, want)
				}
			}
		}
	}
}

// TestPiecesBegin finds the longest piece that a text begins with among many that begin
// with each other.
func TestPiecesBegin(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	text := func(most int) string {
		b := make([]byte, 1+random.IntN(most))
		for i := range b {
			b[i] = "aaaaab"[random.IntN(6)]
		}
		return string(b)
	}
	for range 50 {
		var patterns []pattern
		for range 1 + random.IntN(100) {
			patterns = append(patterns, pattern{middle: text(30) + "*" + text(4)})
		}
		x := newPieces(patterns)
		for range 100 {
			target := text(40)
			want := int32(-1)
			if i := x.sorted.find(target); i >= 0 {
				want = x.number[i]
			}
			if got, compared := x.begins(target); got != want || compared > len(target) {
				t.Fatalf("%q begins with piece %d, want %d, by %d bytes", target, got, want, compared)
			}
		}
	}
}

// TestRunsOfPieces goes up from each of many pieces to those that it starts with: however they
// branch, that takes few runs, and one where they do not.
func TestRunsOfPieces(t *testing.T) {
	const n = 200
	for ends, most := range map[string]int{"": 1, "a": 2, "c": 2, "ac": 2, "acdef": 2} {
		var patterns []pattern
		for i := range n {
			spine := strings.Repeat("b", i+1)
			patterns = append(patterns, pattern{middle: spine})
			for _, end := range ends {
				patterns = append(patterns, pattern{middle: spine + string(end)})
			}
		}
		x := newPieces(patterns)
		for number := range x.number {
			runs := 0
			for at := int32(number); at >= 0; at = x.above[at] {
				runs++
			}
			if runs > most {
				t.Errorf("ends %q: piece %d stands in %d runs, want %d at most", ends, number, runs, most)
				break
			}
		}
	}
}

// TestNoPieces has patterns without any piece.
func TestNoPieces(t *testing.T) {
	x := newPieces([]pattern{{prefix: "/a", suffix: "b"}, {prefix: "/b", suffix: "c"}})
	if number, compared := x.begins("/a"); number != -1 || compared != 0 || len(x.sequence) != 2 {
		t.Errorf("piece %d by %d bytes, of %v", number, compared, x.sequence)
	}
}

// TestTries stops where too many patterns were searched for in vain.
func TestTries(t *testing.T) {
	var c compiler
	for i := range 100 {
		c.add(fmt.Sprintf("/*%02d", i), false, int32(i))
	}
	w := newWildcards(c.patterns)
	all := new(candidates)
	all.reset(100)
	all.bits[0], all.bits[1] = 1<<64-1, 1<<36-1
	for tries, stops := range map[int]bool{1: true, 64: true, 100: true, 101: false} {
		if got := w.tryAll("/x", 0, all, new(outcome), tries); got != stops {
			t.Errorf("with %d tries for 100 patterns it has stopped: %t", tries, got)
		}
	}
}

// TestWalkerSize holds what a walk needs to a few words for each pattern, piece and byte.
func TestWalkerSize(t *testing.T) {
	var c compiler
	for i := range 1000 {
		c.add(fmt.Sprintf("/*a%03d*b%03d", i, i), false, int32(i))
	}
	w, target := newWildcards(c.patterns), strings.Repeat("/a000/b000", 10)
	s := new(walker)
	if !s.walk(&walked{&w, w.cut(), target, 0, new(outcome)}, nil) {
		t.Fatal("the target was not walked through")
	}
	if len(s.awaited) != 32 || len(s.lists) != 2000 || len(s.seen) != 2000 || len(s.due) != len(target) || len(s.longest) != len(target) || len(s.states) != 1000 {
		t.Errorf("%d words of a set, %d lists, %d pieces, %d and %d places, %d states",
			len(s.awaited), len(s.lists), len(s.seen), len(s.due), len(s.longest), len(s.states))
	}
}

// TestLongPieces has few patterns with pieces of thousands of bytes and a target that
// nearly has them everywhere: each pattern is tried, since to compare the pieces at each
// place would take a hundred times as long.
func TestLongPieces(t *testing.T) {
	var c compiler
	for i := range manyTries + 20 {
		c.add("/*"+strings.Repeat("a", 4800+i)+"*c", false, int32(i))
	}
	const last = manyTries + 20 // the shortest, which comes last, and is the only one that matches
	c.add("/*"+strings.Repeat("a", 4700)+"*a", false, last)
	w, target := newWildcards(c.patterns), "/"+strings.Repeat("a", 60_000)
	found := w.find([]spelling{spelled(target, 0)})
	var out outcome
	if w.walk(target, 0, found, &out) {
		t.Error("the target was walked through")
	}
	if w.match(target, 0, found, &out); out.disallow.rule != last || out.allowed() {
		t.Errorf("%+v, want that rule %d forbids it", out, last)
	}
}

// TestHostileRules judges by rules that were written for a target: none of them matches
// it, and one does that is written once more without its last piece, which is missing.
func TestHostileRules(t *testing.T) {
	all := hostileRules
	if raceEnabled {
		all = all[:2]
	}
	for _, h := range all {
		r := Parse([]byte(h.text))
		if v := r.Select(true, "x").Judge(h.target); v.Rule.Line != 0 {
			t.Errorf("%s: line %d, %s, decides", h.name, v.Rule.Line, v.Rule)
		}
		path := r.Select(true, "x").Rules()[r.RuleCount()/2].Path
		path = path[:strings.LastIndexByte(path, '*')]
		longer := Parse([]byte(strings.Replace(h.text, "\n", "\nDisallow: "+path+"\n", 1)))
		if matches := naiveMatch(path, h.target); matches == longer.Select(true, "x").Judge(h.target).Allowed {
			t.Errorf("%s: Disallow: %s matches: %t, and the verdict is another", h.name, path, matches)
		}
	}
}
