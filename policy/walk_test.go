package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestWalk walks through targets with very many patterns, and compares what is found with
// what each pattern finds alone: with pieces that overlap, begin with each other or stand
// nowhere, with runs of one letter, and with patterns that are held at both ends.
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
		for range 50 {
			target := "/" + text(1+random.IntN(60))
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
