package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestManyLiterals compares the search for the longest prefix with a linear search. Some texts
// begin alike, and some have equal keys.
func TestManyLiterals(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		word := func(n int) string {
			var b strings.Builder
			for range random.IntN(n) {
				b.WriteString([]string{"a", "b", "/", "\x00", "\xff", "aaaaaaaa"}[random.IntN(6)])
			}
			return b.String()
		}
		prefix, isText := "/"+word(6), make(map[string]bool)
		var rules []literalRule
		for range 2*maxUnkeyedPrefixes + random.IntN(100) {
			text := prefix + word(5)
			isText[text] = true
			rules = append(rules, literalRule{text: text, length: int32(len(text)), rule: int32(len(rules))})
		}
		l := newLiteralRules(rules)
		for range 200 {
			target := prefix + word(8)
			if random.IntN(10) == 0 {
				target = "/" + word(8)
			}
			want := ""
			for text := range isText {
				if strings.HasPrefix(target, text) && len(text) > len(want) {
					want = text
				}
			}
			got := ""
			if i := l.findLongestPrefix(target); i >= 0 {
				got = l.texts[i]
			}
			if got != want {
				t.Fatalf("seed %d: longest prefix %q of %q, want %q", seed, got, target, want)
			}
		}
	}
	var rules []literalRule // with equal keys
	for i := range 10_000 {
		rules = append(rules, literalRule{text: fmt.Sprintf("/aaaaaaaaaaaa%05d", i), length: 18, rule: int32(i)})
	}
	rules = append(rules, literalRule{text: "/", length: 1})
	l := newLiteralRules(rules)
	if i := l.findLongestPrefix("/aaaaaaaaaaaa04711/x"); l.texts[i] != "/aaaaaaaaaaaa04711" {
		t.Errorf("%q is found", l.texts[i])
	}
}
