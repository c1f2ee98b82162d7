package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// comparedCrawler describes how a crawler or a parser reads a robots.txt.
type comparedCrawler struct {
	name       string
	groupNames []string // groupNames are the names that select the crawler's group, before *.
	isLenient  bool     // isLenient is true if the crawler accepts misspelled keys and missing colons.
	// isStrict is true if the crawler uses the strict interpretation of package policy, in which
	// extension lines separate user-agent lines.
	isStrict bool
	// delaySupport says whether the crawler obeys Crawl-delay, ignores it, or documents nothing.
	delaySupport string
	sourceURL    string
}

// comparedCrawlers are the crawlers and parsers in a [CrawlerComparison]. Undocumented behavior is
// assumed to follow RFC 9309.
var comparedCrawlers = []comparedCrawler{
	{
		name: "Googlebot", groupNames: []string{"Googlebot"}, isLenient: true, delaySupport: "ignored",
		sourceURL: "https://developers.google.com/crawling/docs/robots-txt/robots-txt-spec and https://github.com/google/robotstxt",
	},
	{
		name: "Bingbot", groupNames: []string{"bingbot", "msnbot"}, delaySupport: "obeyed",
		sourceURL: "https://blogs.bing.com/webmaster/2012/05/03/to-crawl-or-not-to-crawl-that-is-bingbots-question",
	},
	{
		name: "YandexBot", groupNames: []string{"YandexBot", "Yandex"}, delaySupport: "ignored",
		sourceURL: "https://yandex.com/support/webmaster/en/robot-workings/user-agent.md and its neighbouring pages",
	},
	{
		name: "GPTBot", groupNames: []string{"GPTBot"}, delaySupport: "undocumented",
		sourceURL: "https://developers.openai.com/api/docs/bots.md",
	},
	{
		name: "RFC 9309", delaySupport: "undefined",
		sourceURL: "https://www.rfc-editor.org/rfc/rfc9309",
	},
	{
		name: "strict parser", isStrict: true, delaySupport: "undefined",
		sourceURL: "docs/findings.md",
	},
}

// CrawlerComparison shows how each of some well-known crawlers interprets a robots.txt.
type CrawlerComparison struct {
	Crawlers []Interpretation `json:"crawlers"`
	// Paths are example paths on which the crawlers have different verdicts, or with ParsersDiffer.
	// The paths with ParsersDiffer come first.
	Paths []PathVerdicts `json:"paths"`
}

// Interpretation describes the group of the file that a crawler obeys.
type Interpretation struct {
	Crawler    string `json:"crawler"`
	Group      string `json:"group"`                 // Group is the first name of the crawler's group, or empty.
	GroupLine  int    `json:"group_line"`            // GroupLine is the line of the group, or 0.
	RuleCount  int    `json:"rules"`                 // RuleCount is the number of rules of the group.
	CrawlDelay string `json:"crawl_delay,omitempty"` // CrawlDelay is empty if the file has none for the crawler.
	Source     string `json:"source"`                // Source names the pages that document the behavior.
}

// PathVerdicts has the verdict of each crawler on a path, in the order of
// CrawlerComparison.Crawlers.
type PathVerdicts struct {
	Path         string `json:"path"`
	Allowed      []bool `json:"allowed"`
	DecisiveLine []int  `json:"line"` // DecisiveLine is the line of the decisive rule, or 0 if there is none.
	// ParsersDiffer means that the verdict of a crawler is not the one that RFC 9309 requires.
	// Otherwise the verdicts differ only because different groups apply to the crawlers.
	ParsersDiffer bool `json:"by_reading"`
}

// ConflictCount returns the number of paths on which a crawler's verdict differs from RFC 9309.
func (r *CrawlerComparison) ConflictCount() int {
	n := 0
	for _, p := range r.Paths {
		if p.ParsersDiffer {
			n++
		}
	}
	return n
}

// These are bounds of the comparison.
const (
	maxComparedRules = 500 // maxComparedRules is the maximum number of rules from which examples are derived.
	maxComparedPaths = 20  // maxComparedPaths is the maximum number of examples in a report.
)

// compareCrawlers returns how each of comparedCrawlers interprets a file, with at most
// maxComparedPaths example paths.
func compareCrawlers(robots *policy.Robots) *CrawlerComparison {
	standard := policy.Parse([]byte(keepStandardLines(robots.Text())))
	groups, standardGroups := make([]*policy.SelectedGroup, len(comparedCrawlers)), make([]*policy.SelectedGroup, len(comparedCrawlers))
	out := &CrawlerComparison{Crawlers: []Interpretation{}, Paths: []PathVerdicts{}}
	var paths []string
	for i, r := range comparedCrawlers {
		standardGroups[i] = standard.Select(true, r.groupNames...)
		switch {
		case r.isLenient:
			groups[i], _ = robots.SelectWithLenientKeys(true, r.groupNames...).LenientAndStrict()
		case r.isStrict:
			_, groups[i] = robots.Select(true, r.groupNames...).LenientAndStrict()
		default:
			groups[i] = standardGroups[i]
		}
		agent, rules := groups[i].FirstAgent(), groups[i].Rules()
		for _, rule := range rules {
			paths = append(paths, examplePath(rule))
		}
		out.Crawlers = append(out.Crawlers, Interpretation{
			Crawler: r.name, Group: agent.Name, GroupLine: agent.Line, RuleCount: len(rules), CrawlDelay: describeDelay(robots, r), Source: r.sourceURL,
		})
	}
	seen := map[string]bool{"": true}
	for _, path := range paths {
		if seen[path] || len(seen) > maxComparedRules {
			continue
		}
		seen[path] = true
		p := PathVerdicts{Path: path}
		for i := range groups {
			v := groups[i].Judge(path)
			p.Allowed, p.DecisiveLine = append(p.Allowed, v.Allowed), append(p.DecisiveLine, v.Rule.Line)
			p.ParsersDiffer = p.ParsersDiffer || v.Allowed != standardGroups[i].Judge(path).Allowed
		}
		if p.ParsersDiffer || slices.Contains(p.Allowed, !p.Allowed[0]) {
			out.Paths = append(out.Paths, p)
		}
	}
	slices.SortStableFunc(out.Paths, func(a, b PathVerdicts) int {
		switch {
		case a.ParsersDiffer == b.ParsersDiffer:
			return 0
		case a.ParsersDiffer:
			return -1
		}
		return 1
	})
	out.Paths = slices.Clip(out.Paths[:min(len(out.Paths), maxComparedPaths)])
	return out
}

// keepStandardLines returns the file with only its User-agent, Allow and Disallow lines. Other
// lines become empty, which preserves line numbers.
func keepStandardLines(text string) string {
	var out strings.Builder
	for all, i := splitLines(text), 0; i < all.len(); i++ {
		if l := all.lineByIndex(i); strings.EqualFold(l.key, "User-agent") || isRuleKey(l.key) {
			out.WriteString(l.raw)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// examplePath returns a path that a rule matches, or "" for a rule that matches nothing.
func examplePath(r policy.Rule) string {
	canonical := r.CanonicalPath()
	if canonical == "" {
		return ""
	}
	return "/" + strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(canonical, "$"), "*", "x"), "/")
}

// describeDelay returns the Crawl-delay for a crawler in seconds and whether it obeys, such as "5
// (ignored)", or "". Bingbot uses the delay of the * group if its own group has none.
func describeDelay(robots *policy.Robots, r comparedCrawler) string {
	group := robots.Select(true, r.groupNames...)
	delay := group.Delay()
	if r.delaySupport == "obeyed" {
		delay = group.DelayOrWildcardDelay()
	}
	if delay.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%g (%s)", delay.Interval.Seconds(), r.delaySupport)
}
