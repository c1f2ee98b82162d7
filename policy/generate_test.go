package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// words are the parts of generated rules and targets.
var words = []string{"shop", "cart", "search", "user", "admin", "images", "static", "api", "blog", "tag",
	"wiki", "Special:", "edit", "print", "archive", "download", "private", "tmp", "login", "report"}

// generateRules returns a group of n rules like those of large shops and wikis. percent of the
// rules have a wildcard.
func generateRules(n, percent int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	word := func() string { return words[random.IntN(len(words))] }
	var b strings.Builder
	for i := range n {
		verb := "Disallow"
		if random.IntN(4) == 0 {
			verb = "Allow"
		}
		path := fmt.Sprintf("/%s/%s-%d", word(), word(), i)
		if random.IntN(100) < percent {
			path = [...]func() string{
				func() string { return fmt.Sprintf("/*?%s=%d", word(), i) },
				func() string { return fmt.Sprintf("/%s/*/%s%d", word(), word(), i) },
				func() string { return fmt.Sprintf("/*/%s-%d$", word(), i) },
				func() string { return fmt.Sprintf("/%s*&%s%d=*&page=", word(), word(), i) },
				func() string { return fmt.Sprintf("/%s/%d*.%s$", word(), i, word()) },
			}[random.IntN(5)]()
		}
		fmt.Fprintf(&b, "%s: %s\n", verb, path)
	}
	return b.String()
}

// generateTargets returns n targets. Many of them match some of these rules.
func generateTargets(n int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 2))
	word := func() string { return words[random.IntN(len(words))] }
	targets := make([]string, n)
	for i := range targets {
		number := random.IntN(12000)
		targets[i] = [...]string{
			fmt.Sprintf("/%s/%s-%d/index.html", word(), word(), number),
			fmt.Sprintf("/%s/page?%s=%d&x=1", word(), word(), number),
			fmt.Sprintf("/%s/deep/er/%s%d", word(), word(), number),
			fmt.Sprintf("/%s/x/%s-%d", word(), word(), number),
			fmt.Sprintf("/%s/x?a=b&%s%d=7&page=2", word(), word(), number),
			fmt.Sprintf("/%s/%d/file.%s", word(), number, word()),
		}[random.IntN(6)]
	}
	return targets
}

// fill repeats s until it is n bytes long.
func fill(s string, n int) string {
	return strings.Repeat(s, n/len(s)+1)[:n]
}

// generateShortRules returns n rules of few different bytes. Most rules overlap.
func generateShortRules(n int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	for range n {
		b.WriteString([...]string{"Disallow: ", "Allow: "}[random.IntN(2)])
		b.WriteString([...]string{"/", "*"}[random.IntN(2)])
		for range random.IntN(12) {
			b.WriteString([...]string{"a", "b", "ab", "*", "/", "%2F", "%61", "$", "?", "index.html"}[random.IntN(10)])
		}
		b.WriteString([...]string{"\n", "$\n"}[random.IntN(2)])
	}
	return b.String()
}

// generateShortTargets returns n targets of the same bytes.
func generateShortTargets(n int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 4))
	targets := make([]string, n)
	for i := range targets {
		targets[i] = "/"
		for range random.IntN(20) {
			targets[i] += [...]string{"a", "b", "ab", "*", "/", "%2f", "%61", "$", "?", "..", "."}[random.IntN(11)]
		}
	}
	return targets
}
