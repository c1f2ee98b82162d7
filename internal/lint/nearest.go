package lint

import (
	"cmp"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// nearestName returns the known crawler with the most similar name, or an empty string. Short
// names, and similar names of little-known crawlers, cause wrong suggestions and are ignored.
func nearestName(name string) string {
	const shortest, longest = 4, 40 // These are the minimum and the maximum length in bytes.
	folded := text.FoldSpelling(name)
	if token := companyCrawlers[folded]; token != "" {
		return token
	}
	if len(folded) < shortest || len(folded) > longest {
		return ""
	}
	const unlimited = 3
	best, found := unlimited, ""
	withPrefix := crawlerWithPrefix(name)
	for _, c := range uaident.Default().Crawlers() {
		if c.Class == uaident.Library || c.Class == uaident.Headless {
			continue
		}
		known := text.FoldSpelling(c.Token)
		if text.IsTransposition(folded, known) {
			return c.Token // Two swapped letters are always a typo.
		}
		maxDistance := 0
		switch n := len(folded); {
		case n >= 9 && c.Provenance == uaident.Documented:
			maxDistance = 2
		case n >= 12, n >= 8 && c.Provenance == uaident.Documented:
			maxDistance = 1
		}
		if known == "" || known[0] != folded[0] || len(known)-len(folded) > maxDistance || len(folded)-len(known) > maxDistance {
			continue
		}
		if d := text.EditDistance(folded, known, best); d <= maxDistance && d < best {
			best, found = d, c.Token
		}
	}
	return cmp.Or(found, withPrefix)
}

// companyCrawlers maps common names of companies to their best known crawlers.
var companyCrawlers = map[string]string{
	"ahrefs": "AhrefsBot", "amazon": "Amazonbot", "anthropic": "ClaudeBot", "apple": "Applebot", "baidu": "Baiduspider",
	"bing": "bingbot", "bytedance": "Bytespider", "chatgpt": "ChatGPT-User", "commoncrawl": "CCBot", "duckduckgo": "DuckDuckBot",
	"facebook": "facebookexternalhit", "google": "Googlebot", "majestic": "MJ12bot", "openai": "GPTBot",
	"perplexity": "PerplexityBot", "semrush": "SemrushBot", "twitter": "Twitterbot", "yahoo": "Slurp",
}

// crawlerWithPrefix returns the token of the only known crawler that begins with name and a space.
// crawlerWithPrefix returns an empty string for no such crawler or several.
func crawlerWithPrefix(name string) (found string) {
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
