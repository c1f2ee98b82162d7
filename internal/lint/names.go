package lint

import (
	"regexp"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// retiredCrawlers maps lower-case names in old files to an explanation. Google's names are from its
// list of retired crawlers
// (developers.google.com/crawling/docs/crawlers-fetchers/retired-crawlers). Anthropic's names are
// from its help page on crawling, and Microsoft's from Bing's overview of its crawlers. The others
// are publicly reported closures.
var retiredCrawlers = map[string]string{
	"adsbot-google-mobile-apps": "Google has retired this crawler; Google's ads crawler is AdsBot-Google",
	"anthropic-ai":              "Anthropic's crawlers are ClaudeBot, Claude-User and Claude-SearchBot",
	"claude-web":                "Anthropic's crawlers are ClaudeBot, Claude-User and Claude-SearchBot",
	"cliqzbot":                  "Cliqz closed in 2020",
	"duplexweb-google":          "Google has retired this crawler",
	"fast-webcrawler":           "AlltheWeb closed in 2011",
	"gigabot":                   "the search engine closed",
	"googlebot-mobile":          "Google crawls for phones as Googlebot",
	"googleweblight":            "Google has retired this crawler",
	"ia_archiver":               "Alexa closed in 2022; the Internet Archive's crawler is archive.org_bot",
	"msnbot":                    "Microsoft's crawler is bingbot",
	"msnbot-media":              "Microsoft's crawler is bingbot",
	"neevabot":                  "Neeva closed in 2023",
	"scooter":                   "AltaVista closed in 2013",
	"scoutjet":                  "Blekko closed in 2015",
	"sosospider":                "Soso is part of Sogou now, whose crawler is Sogou web spider",
	"teoma":                     "Ask gave up its own crawler",
	"yahoo pipes 1.0":           "Yahoo Pipes closed in 2015",
}

// findCrawler returns the registered crawler with the name in a user-agent line, and the part of
// the name that is its token. Without such a crawler, c is nil.
func findCrawler(name string) (c *uaident.Crawler, token string) {
	const longest = 100 // This is a number of bytes. No known name is longer.
	for end := min(len(name), longest); end > 0; end-- {
		if policy.NameMatches(name, name[:end]) {
			if c = uaident.Default().Lookup(name[:end]); c != nil {
				return c, name[:end]
			}
		}
	}
	return nil, ""
}

// trimVersionAndStar returns a name in a user-agent line up to the first / or *.
func trimVersionAndStar(name string) string {
	name, _, _ = strings.Cut(name, "/")
	name, _, _ = strings.Cut(name, "*")
	return strings.TrimSpace(name)
}

// isWildcardName reports whether a name in a user-agent line is *, or * and a word after white
// space.
func isWildcardName(name string) bool {
	rest, ok := strings.CutPrefix(name, "*")
	return ok && (rest == "" || strings.ContainsRune(whitespace, rune(rest[0])))
}

// maxUnknownNames is the maximum number of names that are compared with all known names.
const maxUnknownNames = 300

// checkNames adds findings about the names in user-agent lines.
func (c *checker) checkNames() {
	seen := make(map[string]bool)
	unknown := 0
	for _, g := range c.groups {
		for _, a := range g.Agents {
			folded := strings.ToLower(a.Name)
			if a.Name == "" || isWildcardName(a.Name) || seen[folded] {
				continue
			}
			seen[folded] = true
			if policy.IsTraining(a.Name) {
				c.addOncePerFile(NameNotInRequests, a.Line, "no client sends the name %s: its group says whether pages may be used to train models, so a server cannot block requests by it", quoteExcerpt(a.Name))
				continue
			}
			name := trimVersionAndStar(a.Name)
			crawler, token := findCrawler(a.Name)
			if c.checkSpelling(a) {
				continue
			}
			c.checkNameList(a, token)
			if crawler == nil {
				token = name
			}
			if becomes := retiredCrawlers[strings.ToLower(token)]; becomes != "" {
				c.addOncePerFile(RetiredCrawler, a.Line, "no crawler uses the name %s any more: %s; remove the name, or write the name of its successor", quoteExcerpt(token), becomes)
			} else if crawler != nil && crawler.Controls != "" {
				c.addOncePerFile(NameNotInRequests, a.Line, "no client sends the name %s: its group says %s, so a server cannot block requests by it",
					quoteExcerpt(token), crawler.Controls)
			} else if crawler == nil && c.checkAppName(&g, a, name) {
				continue
			} else if crawler == nil && unknown < maxUnknownNames {
				unknown++
				c.checkUnknownName(a, name)
			} else if crawler == nil || !crawler.ParsesLeniently() { // Google documents that it reads only the name.
				c.checkVersion(a, name)
			}
		}
	}
}

// checkNameList adds a finding for a user-agent line with several crawlers' names. token is the
// first name, or empty. The parser itself reports names separated by commas.
func (c *checker) checkNameList(a policy.Agent, token string) {
	if len(token) == len(a.Name) || strings.Contains(a.Name, ",") {
		return
	}
	if strings.Contains(a.Name, "(") { // The name is a whole User-Agent.
		return
	}
	for i, word := range strings.FieldsFunc(a.Name, func(r rune) bool { return strings.ContainsRune(" \t/&+", r) }) {
		if i > 0 && !strings.Contains(token, word) && uaident.Default().Lookup(word) != nil {
			c.addValueFinding(policy.SeveralAgentNames, a.Line, "only the first name in %s is read; give each its own user-agent line", quoteExcerpt(a.Name))
			return
		}
	}
}

// nameWithVersionRegexp matches a name that is followed only by a version.
var nameWithVersionRegexp = regexp.MustCompile(`^[^/*]+/v?[0-9][0-9A-Za-z._-]*$`)

// checkVersion adds a finding for a name with a version, such as GPTBot/1.0. Names in RFC 9309
// section 2.2.1 have only letters, "_" and "-". Google's library stops at any other character. Some
// parsers, such as Python's urllib.robotparser, remove the version only from the crawler's own
// name. A group with a version then never applies.
func (c *checker) checkVersion(a policy.Agent, name string) {
	if nameWithVersionRegexp.MatchString(a.Name) {
		c.addOncePerFile(NameWithVersion, a.Line, "some parsers compare %s as a whole, and no crawler's name has the version; write %s", quoteExcerpt(a.Name), quoteExcerpt(name))
	}
}

// checkUnknownName adds a finding for a name that the registry does not contain, with a suggestion
// if possible.
func (c *checker) checkUnknownName(a policy.Agent, name string) {
	if _, isClass := uaident.ParseClass(name); isClass && strings.Contains(name, "_") {
		c.addOncePerFile(UnknownCrawlerName, a.Line, "%s is a class of robots_guard and not the name of a crawler; name each crawler, or use the directive robots_txt with disallow %s", quoteExcerpt(name), text.Printable(name))
	} else if likely := nearestName(name); likely != "" {
		c.addValueFinding(MisspeltCrawlerName, a.Line, "no known crawler is called %s; did you mean %s?", quoteExcerpt(name), likely)
	} else if uaident.Default().NewOverlay([]string{a.Name}) == nil && !strings.ContainsAny(a.Name, ",*") {
		c.addOncePerFile(UnknownCrawlerName, a.Line, "no crawler is identified by %s, because many clients or no clients send this word; write the product token of a crawler", quoteExcerpt(a.Name))
	} else {
		c.checkVersion(a, name)
	}
}
