package lint

import (
	"cmp"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// nearest returns the known crawler whose name a misspelt one is most likely
// meant to be, "" if none is near. Short names are near to too many others, and
// so are those of crawlers that hardly anybody names.
func nearest(name string) string {
	const shortest, longest = 4, 40 // letters
	folded := letters(name)
	if token := ofCompany[folded]; token != "" {
		return token
	}
	if len(folded) < shortest || len(folded) > longest {
		return ""
	}
	const far = 3
	best, found := far, ""
	begun := beginning(name)
	for _, c := range uaident.Default().Crawlers() {
		if c.Class == uaident.Library || c.Class == uaident.Headless {
			continue
		}
		known := letters(c.Token)
		most := 0
		switch n := len(folded); {
		case n >= 9 && c.Provenance == uaident.Documented:
			most = 2
		case n >= 12, n >= 8 && c.Provenance == uaident.Documented:
			most = 1
		}
		if known == "" || known[0] != folded[0] || len(known)-len(folded) > most || len(folded)-len(known) > most {
			continue
		}
		if d := distance(folded, known, best); d <= most && d < best {
			best, found = d, c.Token
		}
	}
	return cmp.Or(found, begun)
}

// ofCompany maps what people call a company to its best known crawler.
var ofCompany = map[string]string{
	"ahrefs": "AhrefsBot", "amazon": "Amazonbot", "anthropic": "ClaudeBot", "apple": "Applebot", "baidu": "Baiduspider",
	"bing": "bingbot", "bytedance": "Bytespider", "chatgpt": "GPTBot", "commoncrawl": "CCBot", "duckduckgo": "DuckDuckBot",
	"facebook": "facebookexternalhit", "google": "Googlebot", "majestic": "MJ12bot", "openai": "GPTBot",
	"perplexity": "PerplexityBot", "semrush": "SemrushBot", "twitter": "Twitterbot", "yahoo": "Slurp",
}

// beginning returns the only known crawler whose name has several words and
// begins with these, "" if there is none or there are more.
func beginning(name string) (found string) {
	for _, c := range uaident.Default().Crawlers() {
		if len(c.Token) > len(name) && strings.EqualFold(c.Token[:len(name)], name) && c.Token[len(name)] == ' ' {
			if found != "" {
				return ""
			}
			found = c.Token
		}
	}
	return found
}

// letters drops what people write differently: case, and what parts words.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_.!", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// distance returns how many letters have to be put in, left out, replaced or
// swapped with their neighbour to make b of a; most if it is that many or more.
func distance(a, b string, most int) int {
	rows := [3][]int{}
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := rows[(i+2)%3], rows[(i)%3], rows[(i+1)%3]
		now[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
			least = min(least, now[j])
		}
		if least >= most {
			return most
		}
	}
	return min(most, rows[(len(a)+1)%3][len(b)])
}
