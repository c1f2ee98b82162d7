package crawlers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reason explains why some requests have a different result than expected.
type reason struct {
	crawlers []string // nil for all
	as       string   // "" for both names, own for the crawler's own name, or botName
	variants []string // nil for all
	uri      string   // a regular expression; "" for all
	client   string   // a part of the User-Agent; "" for all
	why      string
	// seldom explains why a crawl may not need the reason. A reason without it has to
	// apply to some request.
	seldom string
}

// own stands for the default name of a crawler.
const own = "its own name"

func (r reason) explains(made request) bool {
	return (r.crawlers == nil || slices.Contains(r.crawlers, made.name)) &&
		(r.as == "" || (r.as == botName) == (made.userAgent != "")) &&
		(r.variants == nil || slices.Contains(r.variants, made.variant.name)) &&
		(r.uri == "" || regexp.MustCompile(r.uri).MatchString(made.Request.URI)) &&
		strings.Contains(made.client(), r.client)
}

// crawlerNames returns the crawlers of a reason.
func (r reason) crawlerNames() string {
	who := "all"
	if r.crawlers != nil {
		who = strings.Join(r.crawlers, ", ")
	}
	switch r.as {
	case own:
		who += ", under " + own
	case botName:
		who += ", as " + botName
	}
	return who
}

// where returns the files and targets of a reason in Markdown.
func (r reason) where() string {
	where := "every file"
	if r.variants != nil {
		where = strings.Join(r.variants, ", ")
	}
	if r.uri != "" {
		where += ": `" + strings.ReplaceAll(r.uri, "|", `\|`) + "`"
	}
	return where
}

// explain finds a reason for each request. It fails for a request without a reason. In
// nightly runs it also fails for a reason without a request.
func explain(t *testing.T, what string, requests []request, reasons []reason) {
	t.Helper()
	needed := make([]int, len(reasons))
	unexplained := make(map[string]int)
	for _, made := range requests {
		i := slices.IndexFunc(reasons, func(r reason) bool { return r.explains(made) })
		if i >= 0 {
			needed[i]++
			continue
		}
		unexplained[fmt.Sprintf("%s, %q behind %s: %s %s: %d, verdict %+v", made.run, made.variant.name, made.origin,
			made.Request.Method, made.Request.URI, made.Status, made.Verdict)]++
	}
	for which, times := range unexplained {
		t.Errorf("%s (%d times): %s", what, times, which)
	}
	for i, r := range reasons {
		if needed[i] == 0 && r.seldom == "" && long {
			t.Errorf("no request needs the reason %q of %s, %s", r.why, r.crawlerNames(), r.where())
		}
		t.Logf("%d requests: %s, %s: %s", needed[i], r.crawlerNames(), r.where(), r.why)
	}
}

// The variants whose files name several crawlers in one group.
var severalNames = []string{"plain", "wildcards", "precedence", "several groups", "merged groups", "sitemap between", "misspelt",
	"missing colon", "BOM and CRLF", "escapes", "bytes", "comments", "blank lines"}

// anotherBot applies to crawlee when it sends the User-Agent of a bot. The 235
// User-Agents from which it chooses (header-generator, 2026-11-24) include pageburst,
// which has its name in the place where Googlebot and bingbot have theirs and browsers
// have none.
var anotherBot = reason{crawlers: []string{"crawlee"}, as: own, client: "like Gecko; compatible; ",
	why:    "among the User-Agents of browsers that it sends is one of a bot, which is judged by everybody's group and not by that of crawlee",
	seldom: "it picks them by chance"}

// blockedThoughObeying explains blocks of crawlers in obeying mode. They are mistakes
// of the crawlers, which request URLs that robots.txt disallows.
var blockedThoughObeying = []reason{
	{crawlers: []string{"wget", "colly", "crawlee"}, uri: `^/private/(8\.html)?$`,
		why: "asks robots.txt about the links that it follows, but not about where a redirect leads"},
	{crawlers: []string{"Scrapy", "wget", "gocrawl"}, uri: `^/public/%2e%2e/private/7\.html$`,
		why: "does not see dots in `%2e%2e`, which servers resolve"},
	{crawlers: []string{"colly", "crawlee", "simplecrawler"}, uri: `%70|%61|~joe|%7Ejoe|caf|paren|pipe|brace`,
		why: "compares spellings, where RFC 9309 (section 2.2.2) has escapes brought to one form first: `%70` is no `p` to it, or `%7e` no `~`, or `|` no `%7C`"},
	{crawlers: []string{"gocrawl"}, variants: []string{"escapes"},
		why: "compares the decoded path with the rule as it is written, so that no rule with an escape matches"},
	{crawlers: []string{"gocrawl"}, variants: []string{"wildcards"}, uri: `\?.*sort=`,
		why: "compares the path without the query"},
	{crawlers: []string{"gocrawl"}, as: own, variants: []string{"several groups"},
		why: "looks for the group of Googlebot, not for that of the name that it sends, unless told otherwise"},
	{crawlers: []string{"Scrapy"}, variants: []string{"sitemap between"},
		why: "takes a Sitemap line for the end of a group, which RFC 9309 (section 2.2.4) forbids"},
	{crawlers: []string{"Scrapy", "wget", "wget2", "HTTrack"}, variants: []string{"BOM before the group"},
		why: "does not skip the byte order mark, so that the first line has no meaning to it"},
	{crawlers: []string{"wget", "wget2", "HTTrack"}, variants: []string{"CR"},
		why: "ends lines at LF alone, where RFC 9309 (section 2.2) also has CR"},
	{crawlers: []string{"wget2"}, variants: severalNames,
		why:    "reads one group, and that no further than to its next User-agent line: a group of several names has no rules for it, and whatever it calls itself, it looks for wget2 or `*`",
		seldom: "versions of wget2 from 2.0 on may read such a group; which one is installed is up to Debian"},
	{crawlers: []string{"wget", "HTTrack"}, variants: []string{"wildcards"},
		why: "takes `*` and `$` in a rule literally"},
	{crawlers: []string{"wget"}, variants: []string{"precedence"},
		why: "goes by the first rule that matches, not by the longest (RFC 9309, section 2.2.2)"},
	{crawlers: []string{"wget", "HTTrack"}, as: botName, variants: []string{"several groups"}, uri: "^/docs/",
		why: "goes by the group of its own name, whatever User-Agent it is given"},
	{crawlers: []string{"HTTrack"}, variants: []string{"merged groups"},
		why: "drops the first group of its name for the second, where RFC 9309 (section 2.2.1) has them merged"},
	{crawlers: []string{"HTTrack"}, variants: []string{"escapes"},
		why: "decodes most escapes of a link and none of a rule before it compares them"},
	anotherBot,
}

// servedThoughForbidden explains requests that the guard serves and Google's library
// would disallow for a crawler of Google's.
var servedThoughForbidden = []reason{
	{crawlers: []string{"crawlee"}, as: own,
		why: "sends the User-Agent of a browser, another with each request: what calls itself a browser is not held to robots.txt"},
	{crawlers: []string{"wget", "wget2", "simplecrawler"}, as: own, variants: []string{"everybody", "BOM before the group"},
		why: "a library or tool that people use is judged only by a group that names it, and these files name nobody"},
	{variants: []string{"misspelt"}, uri: "^/(private|docs)/",
		why: "misspelt keys are read by Google's crawlers, and held against nobody else"},
	{variants: []string{"missing colon"}, uri: "^/private/",
		why: "lines without a colon are read by Google's crawlers, and held against nobody else"},
	{variants: []string{"crawl-delay between"}, uri: "^/private/",
		why: "a Crawl-delay between two User-agent lines ends the group for many parsers, and joins the two for Google's: blocked is only what both forbid"},
}

// blockedThoughAllowed explains requests that the guard blocks and Google's library
// allows: different spellings of a disallowed URL.
var blockedThoughAllowed = []reason{
	{uri: `%70rivate|priv%61te`,
		why: "an escaped letter is the letter (RFC 9309, section 2.2.2), and origins serve it as that; Google's library does not decode it"},
	{uri: `^/public/%2e%2e/private/`,
		why: "servers resolve `%2e%2e` as they do `..`; Google's library leaves that to its caller"},
	{variants: []string{"escapes", "bytes"}, uri: `^/(~|%7E)joe/`,
		why: "`~` and `%7E` are one character (RFC 9309, section 2.2.2); Google's library compares the spellings"},
	{variants: []string{"escapes", "bytes"}, uri: `^/caf%c3%a9/`,
		why: "hex digits have no case (RFC 3986, section 6.2.2.1); Google's library has them upper-case in rules, and leaves the URL to its caller"},
	{variants: []string{"escapes"}, uri: `^/paren\(1\)`,
		why: "`(` and `%28` are the same in a path; Google's library compares the spellings"},
	{variants: []string{"bytes"}, uri: `^/a%20b/|^/pipe|^/brace`,
		why: "a URL cannot have a space, `|` or `{` but as an escape, so a rule with one means that; Google's library escapes only what is not ASCII"},
	anotherBot,
}
