package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// hostileRules are groups with as many rules as fit, written for one target. The target contains
// all pieces of each rule, but no form of it matches.
var hostileRules = []struct {
	name         string
	text, target string
}{
	hostilePairs("pairs", "abcdefghijklmnopqrstuvwxyz0123456789", 6),
	hostilePairs("pairs/two letters", "ab", 6),
	hostilePairs("pairs/short", "abcdef", 2),
	hostileLetters(),
	hostileRuns(),
	hostileBlocks(),
}

// hostilePairs returns rules of two pieces of the target. The second piece occurs only before the
// first.
func hostilePairs(name, alphabet string, size int) (h struct{ name, text, target string }) {
	random := rand.New(rand.NewPCG(5, 6))
	target := []byte{'/'}
	for len(target) < 7200 {
		target = append(target, alphabet[random.IntN(len(alphabet))])
	}
	h.name, h.target = name, string(target)
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for b.Len() < MaxSize-24-2*size {
		i := 1 + random.IntN(len(target)-2*size-1)
		j := i + size + random.IntN(len(target)-2*size-i)
		fmt.Fprintf(&b, "Allow:/*%s*%s*!\n", target[j:j+size], target[i:i+size])
	}
	h.text = b.String()
	return h
}

// hostileLetters returns rules of single letters. The target lacks the last letter.
func hostileLetters() (h struct{ name, text, target string }) {
	random := rand.New(rand.NewPCG(7, 8))
	h.name, h.target = "letters", "/"+strings.Repeat("abcdefgh", 900)[:7199]
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for b.Len() < MaxSize-24 {
		b.WriteString("Allow:/")
		for range 5 {
			fmt.Fprintf(&b, "*%c", 'a'+random.IntN(8))
		}
		b.WriteString("*x\n")
	}
	h.text = b.String()
	return h
}

// hostileRuns returns rules of runs of one letter. Each run occurs everywhere in the target.
func hostileRuns() (h struct{ name, text, target string }) {
	h.name, h.target = "runs", "/"+strings.Repeat("a", 7199)
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; b.Len() < MaxSize-600; i++ {
		fmt.Fprintf(&b, "Allow:/*%s*%s*b\n", strings.Repeat("a", i%500+1), strings.Repeat("a", i*7%13+1))
	}
	h.text = b.String()
	return h
}

// hostileBlocks returns rules of three pieces. Each piece occurs after each other piece, but the
// three never occur in the order of a rule.
func hostileBlocks() (h struct{ name, text, target string }) {
	random := rand.New(rand.NewPCG(9, 10))
	h.name = "blocks"
	block := func(digit byte) string {
		var b strings.Builder
		for i := range 600 {
			fmt.Fprintf(&b, "%c%c%c", 'a'+i/26, 'a'+i%26, digit)
		}
		return b.String()
	}
	h.target = "/" + block('2') + block('1') + block('3') + block('2')
	piece := func(digit byte) string {
		i := random.IntN(600)
		return fmt.Sprintf("%c%c%c", 'a'+i/26, 'a'+i%26, digit)
	}
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for b.Len() < MaxSize-24 {
		fmt.Fprintf(&b, "Allow:/*%s*%s*%s\n", piece('1'), piece('2'), piece('3'))
	}
	h.text = b.String()
	return h
}

// BenchmarkHostile judges a long target by rules written for the target.
func BenchmarkHostile(b *testing.B) {
	for _, bench := range hostileRules {
		b.Run(bench.name, func(b *testing.B) {
			robots := Parse([]byte(bench.text))
			robots.Select(true, "x").Judge(bench.target)
			b.ReportAllocs()
			for b.Loop() {
				robots.Select(true, "x").Judge(bench.target)
			}
			b.ReportMetric(float64(robots.RuleCount()), "rules")
		})
	}
}
