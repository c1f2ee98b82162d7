package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGramsCannotBeMadeToCollide compiles rules whose grams collided when the multiplier was 2^32
// divided by the golden ratio. A verdict was then a thousand times slower. With a random multiplier
// the test fails by chance with a probability below one in ten thousand.
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
	index := r.Select(true, "x").strict.matcher.patterns.index
	longest, run := 0, 0
	for _, slot := range index.slots {
		if slot.to == 0 {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	if longest > rules/8 {
		t.Errorf("%d of %d grams are in one run of slots", longest, rules)
	}
}

// TestDecodedForm judges targets of several forms. Only the decoded form is searched for grams.
// Some of the rules prevent this shortcut.
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
		m := r.Select(true, "x").strict.matcher
		if len(m.patterns.index.slots) == 0 {
			t.Fatalf("seed %d: no index for\n%s", seed, b.String())
		}
		for range 40 {
			compareWithNaive(t, r, "x", "/"+text(9, "a", "b", "/", "?", "%2f", "%3f", "%5c", "%c3", "%252F", "2", "F", "c", "//", "%c3F"))
		}
	}
}

// TestFewPatternsOfOneGram tests patterns with the same gram. Only patterns whose bytes
// around the gram match are compared.
func TestFewPatternsOfOneGram(t *testing.T) {
	var others strings.Builder
	for i := range 2 * maxUnindexedPatterns {
		fmt.Fprintf(&others, "Disallow: /*other%c*\n", 'a'+i)
	}
	long := strings.Repeat("v", 2*maxContextLength)
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

// TestEscapedQueries judges queries with slashes and question marks, which some clients escape.
// Some rules have these escapes or match within one.
func TestEscapedQueries(t *testing.T) {
	for _, rule := range []string{
		"/*?u=%2Fa", "/x?%3f", "/*F", "/*2Fa", "/*3Fb", "*F", "/FF%2Fa", "/xFF*F", "/x*%2F$", "/x?u=%2f$",
		"/x?*2", "/x?*3*a", "/x*2$", "/*?u=/a", "/F", "/x?2F", "/*%5Ca", "/*5Ca", "/*a2F", "/%252F", "/x?*/", "/x?u=",
	} {
		r := Parse([]byte("User-agent: *\nDisallow: " + rule + "\nAllow: /*?u=\nAllow: /y\n"))
		allowing := Parse([]byte("User-agent: *\nDisallow: /x\nAllow: " + rule + "\n"))
		for _, path := range []string{"/x", "/x//y", "/x%2fy", "/x/../y", "/%252F", "/y/.%2e", "x:/z"} {
			for _, query := range []string{"", "?u=/a", "?u=%2fa", "?/u?", "?u=/", "?a?b", "?F", "?/%3F//", "?2Fa/a", "?u=%5c/"} {
				compareWithNaive(t, r, "x", path+query)
				compareWithNaive(t, allowing, "x", path+query)
			}
		}
	}
}

// TestOneGramBeforeOtherBytes tests patterns that are stored under the same gram, and have other bytes
// after or before it.
func TestOneGramBeforeOtherBytes(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\nDisallow: /*abcd1*x\nDisallow: /*abcd2*x\nDisallow: /*1wxyz*x\nDisallow: /*2wxyz*x\n")
	for i := range maxUnindexedPatterns { // makes the other grams more frequent
		fmt.Fprintf(&b, "Allow: /*bcd1*%[1]d\nAllow: /*bcd2*%[1]d\nAllow: /*1wxy*%[1]d\nAllow: /*2wxy*%[1]d\n", i)
	}
	group := Parse([]byte(b.String())).Select(true, "x")
	for line, target := range []string{"/abcd1/x", "/abcd2/x", "/1wxyz/x", "/2wxyz/x"} {
		if v := group.Judge(target); v.Allowed || v.Rule.Line != line+2 {
			t.Errorf("%s: %+v, want disallowed by line %d", target, v, line+2)
		}
	}
}
