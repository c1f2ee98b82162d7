package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// smallFile is a typical robots.txt.
const smallFile = `# Welcome.
User-agent: GPTBot
User-agent: CCBot
Disallow: /

User-agent: Googlebot
Disallow: /search
Disallow: /*?sort=
Allow: /search/about
Disallow: /cart
Disallow: /checkout/
Disallow: /*.pdf$

User-agent: *
Disallow: /search
Disallow: /cart
Disallow: /checkout/
Disallow: /private/
Disallow: /wp-admin/
Allow: /wp-admin/admin-ajax.php

Sitemap: https://example.com/sitemap.xml
`

// words are the parts of generated rules and targets.
var words = []string{"shop", "cart", "search", "user", "admin", "images", "static", "api", "blog", "tag",
	"wiki", "Special:", "edit", "print", "archive", "download", "private", "tmp", "login", "report"}

// rulesFile returns a file with one group of n rules, like those of large shops and
// wikis. The given percentage of the rules has a wildcard.
func rulesFile(n, percent int) string {
	random := rand.New(rand.NewPCG(uint64(n), uint64(percent)))
	word := func() string { return words[random.IntN(len(words))] }
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		verb := "Disallow"
		if random.IntN(4) == 0 {
			verb = "Allow"
		}
		path := fmt.Sprintf("/%s/%s-%d", word(), word(), i)
		if random.IntN(100) < percent {
			switch random.IntN(5) {
			case 0:
				path = fmt.Sprintf("/*?%s=%d", word(), i)
			case 1:
				path = fmt.Sprintf("/%s/*/%s%d", word(), word(), i)
			case 2:
				path = fmt.Sprintf("/*/%s-%d$", word(), i)
			case 3:
				path = fmt.Sprintf("/%s*&%s%d=*&page=", word(), word(), i)
			case 4:
				path = fmt.Sprintf("/%s/%d*.%s$", word(), i, word())
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", verb, path)
	}
	return b.String()
}

// largestFile returns a file of whole lines with nearly policy.MaxSize bytes.
func largestFile() string {
	text := rulesFile(20000, 40)[:policy.MaxSize]
	return text[:strings.LastIndexByte(text, '\n')+1]
}

// catalogueRules is the number of rules in a real robots.txt, that of docs.oracle.com.
const catalogueRules = 31843

// catalogueFile returns a file of n rules without wildcards, like one for each book of
// a large library. With catalogueRules rules it has nearly policy.MaxSize bytes.
func catalogueFile(rules int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range rules {
		i = i * 7919 % (36 * 36 * 36) // unsorted; 7919 is prime, so all numbers differ
		fmt.Fprintf(&b, "Disallow: /%c%c%c/\n", digits[i/36/36], digits[i/36%36], digits[i%36])
	}
	return b.String()
}

// starsFile returns a rule for which a backtracking matcher would try every split of a
// target that consists of the letter a.
func starsFile() string {
	return "User-agent: *\nDisallow: /" + strings.Repeat("*a", 500) + "*b$\n"
}

// fill repeats s up to a length of n bytes.
func fill(s string, n int) string {
	return strings.Repeat(s, n/len(s)+1)[:n]
}

// targets returns n request targets, some of which match rules of rulesFile.
func targets(n int) []string {
	random := rand.New(rand.NewPCG(uint64(n), 2))
	word := func() string { return words[random.IntN(len(words))] }
	list := make([]string, n)
	for i := range list {
		number := random.IntN(12000)
		switch random.IntN(6) {
		case 0:
			list[i] = fmt.Sprintf("/%s/%s-%d/index.html", word(), word(), number)
		case 1:
			list[i] = fmt.Sprintf("/%s/page?%s=%d&x=1", word(), word(), number)
		case 2:
			list[i] = fmt.Sprintf("/%s/deep/er/%s%d", word(), word(), number)
		case 3:
			list[i] = fmt.Sprintf("/%s/x/%s-%d", word(), word(), number)
		case 4:
			list[i] = fmt.Sprintf("/%s/x?a=b&%s%d=7&page=2", word(), word(), number)
		case 5:
			list[i] = fmt.Sprintf("/%s/%d/file.%s", word(), number, word())
		}
	}
	return list
}
