package crawlers

import (
	"slices"
	"strings"
)

// variant is a kind of robots.txt.
type variant struct {
	name string
	text string // $NAMES stands for a line for each name, $OWN for a line for each default name
	none bool   // the site has no robots.txt
}

// allVariants disallow /private/ for the crawlers in different ways. No file disallows
// the first page, where every crawl starts.
var allVariants = []variant{
	{name: "plain", text: "$NAMES\nUser-agent: *\nDisallow: /private/\nDisallow: /search\n"},
	{name: "wildcards", text: "$NAMES\nUser-agent: *\nDisallow: /*.pdf$\nDisallow: /shop/*/edit\nDisallow: /*?*sort=\nDisallow: /pri*te/\nDisallow: /star*1\nDisallow: /dollar$\n"},
	{name: "precedence", text: "$NAMES\nUser-agent: *\n" +
		"Disallow: /shop/\nAllow: /shop/item1\n" + // the longer rule is last
		"Allow: /docs/\nDisallow: /docs/a\n" + // the shorter rule is first
		"Disallow: /tie/\nAllow: /tie/\n" + // equal length: allowed
		"Allow: /p\nDisallow: /private/\nAllow: /private/2\n" +
		"Disallow: /folder2/\nAllow: /folder2/index.html\n"},
	{name: "several groups", text: "User-agent: *\nDisallow: /public/\n\n$OWN\nDisallow: /private/\n\nUser-agent: DotBot\nDisallow: /docs/\n\nUser-agent: somebot\nDisallow: /\n"},
	{name: "merged groups", text: "$NAMES\nUser-agent: *\nDisallow: /private/\n\nUser-agent: somebot\nDisallow: /shop/\n\n$NAMES\nUser-agent: *\nDisallow: /docs/\n"},
	{name: "sitemap between", text: "$NAMES\n\nSitemap: /sitemap.xml\n\nUser-agent: *\n\nDisallow: /private/\nHost: example.com\nDisallow: /docs/\n"},
	{name: "misspelt", text: "$NAMES\nUser-agent: *\nDisalow: /private/\nDissallow: /docs/\nDisallow: /search\n"},
	{name: "missing colon", text: "$NAMES\nUser-agent: *\nDisallow /private/\nDisallow: /search\n"},
	{name: "BOM and CRLF", text: strings.ReplaceAll("\ufeff$NAMES\nUser-agent: *\nDisallow: /private/\n", "\n", "\r\n")},
	{name: "BOM before the group", text: "\ufeffUser-agent: *\r\nDisallow: /private/\r\n"},
	{name: "CR", text: strings.ReplaceAll("$NAMES\nUser-agent: *\nDisallow: /private/\n", "\n", "\r")},
	{name: "escapes", text: "$NAMES\nUser-agent: *\nDisallow: /caf%c3%a9/\nDisallow: /%7ejoe/\nDisallow: /a%20b/\nDisallow: /AC%2FDC/\nDisallow: /100%25\nDisallow: /private/\nDisallow: /semi;v=1/\nDisallow: /paren%281%29\nDisallow: /plus+\n"},
	{name: "bytes", text: "$NAMES\nUser-agent: *\nDisallow: /café/\nDisallow: /~joe/\nDisallow: /a b/\nDisallow: /pipe|\nDisallow: /brace{\nDisallow: /quote'\n"},
	{name: "crawl-delay between", text: "User-agent: *\n$NAMES\nCrawl-delay: 0\nUser-agent: somebot\nDisallow: /private/\n"},
	{name: "comments", text: "# Disallow: /\n$NAMES\nUser-agent: * # everybody\n# Disallow: /docs/\nDisallow: /private/ # secret\nDisallow: # /shop/\n\n#User-agent: somebot\n"},
	{name: "blank lines", text: "$NAMES\nUser-agent: *\n\nDisallow: /private/\n\nDisallow: /docs/\n"},
	{name: "empty", text: "$NAMES\nDisallow:\n\nUser-agent: *\nDisallow: /private/\n"},
	{name: "everybody", text: "User-agent: *\nDisallow: /private/\n"},
	{name: "none", none: true},
}

// fewVariants are the names of the variants in CI.
var fewVariants = []string{"plain", "wildcards", "precedence", "merged groups", "BOM and CRLF", "everybody", "none"}

// variants are the variants of this run.
var variants = chooseVariants()

func chooseVariants() []variant {
	if long {
		return allVariants
	}
	return slices.DeleteFunc(slices.Clone(allVariants), func(v variant) bool { return !slices.Contains(fewVariants, v.name) })
}

// Names in the files: the default names of the crawlers, and their alternative name.
var (
	ownNames = []string{"Scrapy", "Wget", "wget2", "colly", "gocrawl", "crawlee", "Node", "HTTrack"}
	botName  = "DotBot"
)

// robots returns the file, or nil if there is none.
func (v variant) robots() *string {
	if v.none {
		return nil
	}
	list := func(names []string) string {
		end := "\n"
		switch {
		case strings.Contains(v.text, "\r\n"):
			end = "\r\n"
		case strings.Contains(v.text, "\r"):
			end = "\r"
		}
		lines := make([]string, len(names))
		for i, name := range names {
			lines[i] = "User-agent: " + name
		}
		return strings.Join(lines, end)
	}
	text := strings.NewReplacer("$NAMES", list(append(ownNames[:len(ownNames):len(ownNames)], botName)), "$OWN", list(ownNames)).Replace(v.text)
	return &text
}
