package policy

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGramsCannotBeMadeToCollide compiles rules whose grams fell into one part
// of the table when the multiplier was 2^32 divided by the golden ratio: a
// verdict took a thousand times as long. They are spread like any others now.
// That so many of them meet by chance is less likely than one in ten thousand.
func TestGramsCannotBeMadeToCollide(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~!'()+,;:@&"
	const goldenRatio = 0x9E3779B1
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	rules := 0
	for _, w := range []byte(letters) {
		for _, x := range []byte(letters) {
			for _, y := range []byte(letters) {
				for _, z := range []byte(letters) {
					if gram := uint32(w) | uint32(x)<<8 | uint32(y)<<16 | uint32(z)<<24; gram*goldenRatio>>20 == 5 {
						b.WriteString("Disallow: *" + string([]byte{w, x, y, z}) + "*\n")
						rules++
					}
				}
			}
		}
	}
	r := Parse([]byte(b.String()))
	if rules < 5000 || b.Len() > MaxSize {
		t.Fatalf("%d rules, %d bytes", rules, b.Len())
	}
	long := r.Select(true, "x").strict.rules.wildcards.long
	longest, run := 0, 0
	for _, slot := range long.slots {
		if slot.to == 0 {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	if longest > rules/8 {
		t.Errorf("%d of %d grams stand in a row", longest, rules)
	}
}

// TestDecodedForm judges targets of several forms, of which only the decoded one is
// searched for grams, by rules that may be searched for so and by rules that may not.
func TestDecodedForm(t *testing.T) {
	odd := []string{"%2F", "%3F", "%5C", "//", "F", "2F", "3F", "5C", "C"}
	seeds := uint64(40)
	if raceEnabled {
		seeds = 4
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 8))
		text := func(most int, words ...string) string {
			var b strings.Builder
			for range 1 + random.IntN(most) {
				b.WriteString(words[random.IntN(len(words))])
			}
			return b.String()
		}
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := range 12 {
			piece := strings.ReplaceAll(text(4, "a", "/b", "a?", "%C3", "a2", "c"), "c%", "%")
			if seed%2 > 0 && i < 2 {
				piece = odd[random.IntN(len(odd))] + piece
			}
			b.WriteString([]string{"Allow: /", "Disallow: /"}[random.IntN(2)] + text(1, "a", "") + "*" + piece + "*" + text(2, "a", "/b", "b", "?") + "\n")
		}
		r := Parse([]byte(b.String()))
		m := r.Select(true, "x").strict.rules
		if !m.wildcards.indexed() || seed%2 == 0 && m.wildcards.allForms {
			t.Fatalf("seed %d: by\n%sall forms are searched", seed, b.String())
		}
		for range 40 {
			compareWithNaive(t, r, "x", "/"+text(9, "a", "b", "/", "?", "%2f", "%3f", "%5c", "%c3", "%252F", "2", "F", "c", "//", "%c3F"))
		}
	}
}

// TestLiteralsOutsideTheDecodedForm has a rule about what stands in a target as it was sent,
// and not where that is decoded, among so many that they are looked up.
func TestLiteralsOutsideTheDecodedForm(t *testing.T) {
	var others strings.Builder
	for i := range 2 * fewPatterns {
		fmt.Fprintf(&others, "Disallow: /*other%c*\n", 'a'+i)
	}
	for piece, target := range map[string]string{
		"%2Fzq": "/x%2fzq", "2Fzq": "/x%2Fzq", "Fzq": "/x%2Fzq", "%5Czq": "/x%5czq", "5Czq": "/x%5Czq", "Czq": "/x%5Czq",
		"%3Fzq": "/x?/%3fzq", "3Fzq": "/x?/%3Fzq", "//zq": "/x//zq", "v//zq": "/xv//zq",
	} {
		r := Parse([]byte("User-agent: *\n" + others.String() + "Disallow: /x*" + piece + "*y\n"))
		for _, end := range []string{"y", "/y", "n"} {
			compareWithNaive(t, r, "x", target+end)
		}
		if r.Select(true, "x").Judge(target + "y").Allowed {
			t.Errorf("%s is not found in %s", piece, target)
		}
	}
}

// TestLiteralsInOneForm has rules about what stands in one form of a target only, among so
// many that they are looked up.
func TestLiteralsInOneForm(t *testing.T) {
	var others strings.Builder
	for i := range 2 * fewPatterns {
		fmt.Fprintf(&others, "Disallow: /*other%c*\n", 'a'+i)
	}
	others.WriteString("Disallow: /\n")                           // an allow rule is then seen to match
	for _, also := range []string{"", "Disallow: /*%2Fother\n"} { // with it all forms are looked through
		for _, tc := range []struct{ rule, target string }{
			{"/*x/yz?u=*", "/ax%2Fyz?u=%2F"},
			{"/*x%2Fyz?u=*", "/ax%2Fyz?u=%2F"},
			{"/*yz?u=/wx*", "/ax%2Fyz?u=%2Fwx"},
			{"/*yz?u=%2Fwx*", "/ax%2Fyz?u=%2Fwx"},
			{"/*yz?u=%2Fwx*", "/yz?u=/wx"},
			{"/*u=0123456789%2Fwx*", "/yz?u=0123456789%2Fwx"},
			{"/*u=0123456789%2Fwx*", "/yz?u=0123456789/wx"},
			{"/*u=0123456789/wx*", "/yz?u=0123456789%2Fwx"},
			{"/ab/yz?*0123", "/ab%2Fyz?/u=0123"},
			{"/*wxyz?/abc*", "/v/wxyz?%2Fabc"},
			{"/*wxyz?/abc*", "/v//wxyz?/abc"},
			{"/*/wxyz?%2Fabc*", "/v%5Cwxyz?/abc"},
			{"/*wxyz?0123456*", "/v%5Cwxyz?0123456/"},
		} {
			r := Parse([]byte("User-agent: *\n" + others.String() + also + "Allow: " + tc.rule + "\n"))
			compareWithNaive(t, r, "x", tc.target)
			if !r.Select(true, "x").Judge(tc.target).Allowed {
				t.Errorf("%s does not match %s", tc.rule, tc.target)
			}
		}
	}
}

// TestLiteralsInOnePath has rules about what stands in one of the paths of a target only.
func TestLiteralsInOnePath(t *testing.T) {
	var others strings.Builder
	for i := range 2 * fewPatterns {
		fmt.Fprintf(&others, "Disallow: /*other%c*\n", 'a'+i)
	}
	for rule, target := range map[string]string{"/*pdf/$": "/a.pdf/.", "/?qx*z": "x:abc?qxz", "/abc?*qxyz": "x:abc?qxyz"} {
		r := Parse([]byte("User-agent: *\n" + others.String() + "Disallow: " + rule + "\n"))
		compareWithNaive(t, r, "x", target)
		if r.Select(true, "x").Judge(target).Allowed {
			t.Errorf("%s does not disallow %s", rule, target)
		}
	}
}

// TestStands compares what is near to a gram in a pattern and in a text.
func TestStands(t *testing.T) {
	far := strings.Repeat("f", comparedAround)
	for _, tc := range []struct {
		before, after string // the gram, in the pattern
		text          string // with | for where the gram stands
		want          bool
	}{
		{"", "", "|~~", true},
		{"a", "", "a|~~", true},
		{"a", "", "b|~~", false},
		{"a", "", "|~~", false},
		{"ba", "", "ca|~~", false},
		{"b*a", "", "ca|~~", true}, // another literal
		{"", "a", "|~~a", true},
		{"", "a", "|~~b", false},
		{"", "a", "|~~", false},
		{"", "ab", "|~~ac", false},
		{"", "a*b", "|~~ac", true},
		{far, "", far + "|~~", true},
		{"x" + far, "", "y" + far + "|~~", true}, // too far away to be looked at
		{"x" + far[1:], "", "y" + far[1:] + "|~~", false},
		{"", far[2:] + "x", "|~~" + far[2:] + "y", true},
		{"", far[3:] + "x", "|~~" + far[3:] + "y", false},
	} {
		p := pattern{prefix: "/", middle: tc.before + "~~" + tc.after}
		before, after, _ := strings.Cut(tc.text, "|")
		if got := p.stands(before+after, len(before), gramPlace(len(tc.before)<<2|1)); got != tc.want {
			t.Errorf("%q around the gram stands in %q: %t, want %t", p.middle, tc.text, got, tc.want)
		}
	}
}

// TestFewFiled looks at each of a few patterns under one gram, and at none of many.
func TestFewFiled(t *testing.T) {
	fixGrams(t)
	for n, want := range map[int]int{fewFiled - 1: 1, fewFiled: 1, fewFiled + 1: fewFiled + 1} {
		var c compiler
		for i := range 2 * fewPatterns {
			c.add(fmt.Sprintf("/*other%c", 'a'+i), false, 0)
		}
		for i := range n {
			c.add(fmt.Sprintf("/*%c~~~~", 'a'+i), false, 0)
			c.add("/*"+strings.Repeat(fmt.Sprintf("%c~~~", 'a'+i), 10), false, 0) // so that no gram but ~~~~ is rare
		}
		w := newWildcards(c.patterns)
		found := w.find([]spelling{spelled("/x/a~~~~/x", 0)})
		if got := found.count(); got != want {
			t.Errorf("of %d patterns under one gram %d are found, want %d", n, got, want)
		}
		if words := len(found.bits); words != 1 {
			t.Errorf("the set of %d patterns takes %d words", len(w.patterns), words)
		}
	}
}

// count returns how many patterns are in a set.
func (c *candidates) count() (n int) {
	for _, word := range c.bits {
		n += bits.OnesCount64(word)
	}
	return n
}

// TestCandidatesAreUsedAgain empties a set without taking memory anew.
func TestCandidatesAreUsedAgain(t *testing.T) {
	var c candidates
	c.reset(64)
	if n := testing.AllocsPerRun(100, func() { c.reset(64) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestGramTable has tables that grow with what is filed, with room for twice as much.
func TestGramTable(t *testing.T) {
	for n, slots := range map[int]int{1: 64, 32: 64, 33: 128, 64: 128, 65: 256} {
		var patterns []pattern
		var all []int32
		for i := range n {
			patterns = append(patterns, pattern{prefix: fmt.Sprintf("/%03d", i)})
			all = append(all, int32(i))
		}
		x := gramIndex{size: 4}
		if without := x.file(patterns, all); len(without) > 0 || len(x.slots) != slots || len(x.filter) != slots/4 || len(x.filed) != n {
			t.Errorf("%d patterns: %d without a gram, %d filed, %d slots, %d words of the filter", n, len(without), len(x.filed), len(x.slots), len(x.filter))
		}
	}
}

// TestRarestGram files patterns under what is rare, however often the rest is there, and
// those that are too short for one index in the next.
func TestRarestGram(t *testing.T) {
	fixGrams(t)
	patterns := []pattern{{prefix: "/", middle: strings.Repeat("abcd", 1<<16-1)}, {prefix: "/", middle: "abcdwxyz"}}
	x := gramIndex{size: 4}
	x.file(patterns, []int32{0, 1})
	gram, _ := x.at("wxyz", 0)
	if slot := x.slot(gram); slot.to-slot.from != 1 || x.filed[slot.from] != 1 {
		t.Errorf("filed is %v, of it %d to %d under the rare gram", x.filed, slot.from, slot.to)
	}
	var c compiler
	for i, path := range []string{"/*abcd", "/*abc", "/*ab", "/*a", "/abc*", "/ab*x", "/a*x", "/*a$", "/*ab$", "/*/*a*b"} {
		c.add(path, false, int32(i))
	}
	if w := newWildcards(c.patterns); len(w.long.filed) != 1 || len(w.short.filed) != 5 || len(w.always) != 3 {
		t.Errorf("%d patterns are filed under four bytes, %d under two, %d under none", len(w.long.filed), len(w.short.filed), len(w.always))
	}
}

// TestFewPatternsOfOneGram has some patterns under one gram, of which only those are tried
// whose bytes around it are right.
func TestFewPatternsOfOneGram(t *testing.T) {
	var others strings.Builder
	for i := range 2 * fewPatterns {
		fmt.Fprintf(&others, "Disallow: /*other%c*\n", 'a'+i)
	}
	long := strings.Repeat("v", 2*comparedAround)
	around := [][2]string{{"", ""}, {"", "b"}, {"a", ""}, {"xyzab", "cd"}, {long, ""}, {"", long}, {long, "w" + long}, {"*a", "b*c"}}
	for i, x := range around {
		y := around[(i+3)%len(around)]
		for _, rule := range []string{"/*%s~~~~%s*z", "/*%s~~~~%s$", "/%s~~~~%s*z"} {
			text := "User-agent: *\n" + others.String() + "Disallow: " + fmt.Sprintf(rule, x[0], x[1]) + "\nDisallow: " + fmt.Sprintf(rule, y[0], y[1]) + "\n"
			r := Parse([]byte(text))
			for _, near := range append(around, [2]string{"xyzb", "cd"}, [2]string{"v" + long, long + "w"}, [2]string{long[1:], ""}) {
				for _, target := range []string{"/%s~~~~%s", "/%s~~~~%sz", "/q/%s~~~~%s", "/~~~~/%s~~~~%s?/z", "/%%2F%s~~~~%s//z"} {
					compareWithNaive(t, r, "x", fmt.Sprintf(target, near[0], near[1]))
				}
			}
		}
	}
}

// TestEscapedQueries judges queries with slashes and question marks, which some clients escape,
// by rules that have these escapes or may begin within one, and by rules that do not.
func TestEscapedQueries(t *testing.T) {
	for rule, escapes := range map[string]bool{
		"/*?u=%2Fa": true, "/x?%3f": true, "/*F": true, "/*2Fa": true, "/*3Fb": true, "*F": true, "/FF%2Fa": true, "/xFF*F": true, "/x*%2F$": true, "/x?u=%2f$": true,
		"/*?u=/a": false, "/F": false, "/x?2F": false, "/*%5Ca": false, "/*5Ca": false, "/*a2F": false, "/%252F": false, "/x?*/": false, "/x?u=": false,
	} {
		r := Parse([]byte("User-agent: *\nDisallow: " + rule + "\nAllow: /*?u=\nAllow: /y\n"))
		if got := r.Select(true, "x").strict.hasEscapes(); got != escapes {
			t.Errorf("%s: has escapes %v, want %v", rule, got, escapes)
		}
		for _, path := range []string{"/x", "/x//y", "/x%2fy", "/x/../y", "/%252F", "/y/.%2e", "x:/z"} {
			for _, query := range []string{"", "?u=/a", "?u=%2fa", "?/u?", "?u=/", "?a?b", "?F", "?/%3F//", "?2Fa/a", "?u=%5c/"} {
				compareWithNaive(t, r, "x", path+query)
			}
		}
	}
}
