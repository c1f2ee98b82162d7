package lint

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// comparedCrawler is a crawler in the comparison.
type comparedCrawler struct {
	name    string
	chain   []string // the names that select its group, before *
	lenient bool     // accepts misspelled keys and missing colons, and compares only the start of keys
	strict  bool     // strict interpretation of package policy; extension lines separate user-agent lines
	index   bool     // "Allow: /dir/index.html" also allows /dir/
	delay   string   // obeyed, ignored, or undocumented
	source  string
}

// comparedCrawlers are the compared crawlers. Undocumented behavior is assumed to follow RFC 9309.
var comparedCrawlers = []comparedCrawler{
	{
		name: "Googlebot", chain: []string{"Googlebot"}, lenient: true, index: true, delay: "ignored",
		source: "https://developers.google.com/crawling/docs/robots-txt/robots-txt-spec and https://github.com/google/robotstxt",
	},
	{
		name: "Bingbot", chain: []string{"bingbot", "msnbot"}, delay: "obeyed",
		source: "https://blogs.bing.com/webmaster/2012/05/03/to-crawl-or-not-to-crawl-that-is-bingbots-question",
	},
	{
		name: "YandexBot", chain: []string{"YandexBot", "Yandex"}, delay: "ignored",
		source: "https://yandex.com/support/webmaster/en/robot-workings/user-agent.md and the pages beside it",
	},
	{
		name: "GPTBot", chain: []string{"GPTBot"}, delay: "undocumented",
		source: "https://developers.openai.com/api/docs/bots.md",
	},
	{
		name: "RFC 9309", delay: "undefined",
		source: "https://www.rfc-editor.org/rfc/rfc9309",
	},
	{
		name: "strict parser", strict: true, delay: "undefined",
		source: "docs/findings.md",
	},
}

// Comparison compares how crawlers interpret a file.
type Comparison struct {
	Crawlers []Interpretation `json:"crawlers"`
	// Paths are examples with different verdicts. Differences caused only by the selected groups
	// come last.
	Paths []PathVerdicts `json:"paths"`
}

// Interpretation is a crawler's interpretation of the file.
type Interpretation struct {
	Crawler    string   `json:"crawler"`
	Group      string   `json:"group"`                 // the first name of its group, or empty
	GroupLine  int      `json:"group_line"`            // 0 for none
	Rules      int      `json:"rules"`                 // number of rules of its group
	CrawlDelay string   `json:"crawl_delay,omitempty"` // empty if the file has none for the crawler
	Notes      []string `json:"notes,omitempty"`
	Source     string   `json:"source"` // of the documented behavior
}

// PathVerdicts has the verdicts on a path, in the order of Comparison.Crawlers.
type PathVerdicts struct {
	Path    string `json:"path"`
	Allowed []bool `json:"allowed"`
	Line    []int  `json:"line"` // of the decisive rule; 0 for none
	// ParsersDiffer means a difference between a crawler's verdict and the verdict required by RFC
	// 9309.
	ParsersDiffer bool `json:"by_reading"`
}

// Conflicts returns the number of paths with ParsersDiffer.
func (r *Comparison) Conflicts() int {
	n := 0
	for _, p := range r.Paths {
		if p.ParsersDiffer {
			n++
		}
	}
	return n
}

// These bounds limit the comparison.
const (
	maxComparedRules = 500 // rules to derive examples from
	maxComparedPaths = 20  // examples in a report
)

// interpretedFile is an interpretation of a file.
type interpretedFile struct {
	robots       *policy.Robots
	withoutIndex *policy.Robots // nil if index pages open their directories
	strict       bool           // uses the strict interpretation
}

// parseAs parses a file in the interpretation of a crawler.
func parseAs(body []byte, lenient, index bool) interpretedFile {
	text := policy.Parse(body).Text()
	if text == "" {
		return interpretedFile{robots: policy.Parse(nil)}
	}
	d := interpretedFile{robots: policy.Parse(rewrite(text, func(l line) string { return normalizeLine(l, lenient) }))}
	if !index {
		d.withoutIndex = policy.Parse(rewrite(text, func(l line) string {
			if opensIndex(l) {
				return ""
			}
			return normalizeLine(l, lenient)
		}))
	}
	return d
}

// opensIndex reports whether a line allows an index page. Google then allows the directory, too.
func opensIndex(l line) bool {
	return strings.EqualFold(l.key, "Allow") && strings.Contains(l.value, "/index.htm")
}

// rewrite replaces each line of a file and preserves line numbers.
func rewrite(text string, as func(line) string) []byte {
	var out strings.Builder
	for all, i := readLines(text), 0; i < all.len(); i++ {
		out.WriteString(as(all.at(i)))
		out.WriteByte('\n')
	}
	return []byte(out.String())
}

// strictKeys are the keys that a strict reader supports.
var strictKeys = []string{"user-agent", "allow", "disallow"}

// normalizeLine returns the part of a line supported by a crawler. Other records are omitted.
// According to RFC 9309 section 2.2.4, they must not interfere.
func normalizeLine(l line, lenient bool) string {
	switch {
	case slices.Contains(strictKeys, strings.ToLower(l.key)):
		return l.key + ": " + l.value
	case !lenient:
		return ""
	case l.key == "":
		return l.value // two words, or an empty line
	}
	if read := keyReadAs(l.key); read != "" {
		return read + ": " + l.value
	}
	return l.key + ": " + l.value
}

// judge returns the verdict for a path.
func (d interpretedFile) judge(path string, chain []string) policy.Verdict {
	if d.withoutIndex != nil && strings.HasSuffix(path, "/") {
		d.robots = d.withoutIndex
	}
	return d.group(chain).Judge(path)
}

// group returns the group for a list of names.
func (d interpretedFile) group(chain []string) *policy.SelectedGroup {
	lenient, strict := d.robots.Select(true, chain...).LenientAndStrict()
	if d.strict {
		return strict
	}
	return lenient
}

// compareCrawlers compares how crawlers interpret a file.
func compareCrawlers(body []byte) *Comparison {
	robots := policy.Parse(body)
	strict, lenient := parseAs(body, false, false), parseAs(body, true, true)
	parser := policy.Parse(rewrite(robots.Text(), func(l line) string {
		if opensIndex(l) {
			return ""
		}
		return l.raw
	}))
	of := func(r comparedCrawler) interpretedFile {
		switch {
		case r.lenient:
			return lenient
		case r.strict:
			return interpretedFile{robots, parser, true}
		}
		return strict
	}
	out := &Comparison{Crawlers: []Interpretation{}, Paths: []PathVerdicts{}}
	var rules []policy.Rule
	for _, r := range comparedCrawlers {
		group := of(r).group(r.chain)
		own := group.Rules()
		rules = append(rules, own...)
		out.Crawlers = append(out.Crawlers, Interpretation{
			Crawler: r.name, Group: group.FirstAgent().Name, GroupLine: group.FirstAgent().Line, Rules: len(own),
			CrawlDelay: describeDelay(robots, r), Notes: interpretationNotes(robots, body, r), Source: r.source,
		})
	}
	seen := make(map[string]bool)
	for _, rule := range rules {
		for _, path := range examplePaths(rule) {
			if seen[path] || len(seen) >= maxComparedRules {
				continue
			}
			seen[path] = true
			p := PathVerdicts{Path: path}
			differ := false
			for i, r := range comparedCrawlers {
				v := of(r).judge(path, r.chain)
				p.Allowed, p.Line = append(p.Allowed, v.Allowed), append(p.Line, v.Rule.Line)
				differ = differ || v.Allowed != p.Allowed[0] && i > 0
				p.ParsersDiffer = p.ParsersDiffer || v.Allowed != strict.judge(path, r.chain).Allowed
			}
			if differ || p.ParsersDiffer {
				out.Paths = append(out.Paths, p)
			}
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

// examplePaths returns example paths for a rule.
func examplePaths(r policy.Rule) []string {
	canonical := r.Canonical()
	if canonical == "" {
		return nil
	}
	path := strings.ReplaceAll(strings.TrimSuffix(canonical, "$"), "*", "x")
	if path[0] != '/' {
		path = "/" + path
	}
	paths := []string{path}
	if i := strings.LastIndex(path, "/index.htm"); i >= 0 && r.Allow {
		paths = append(paths, path[:i+1])
	}
	return paths
}

// describeDelay describes how a reader treats the Crawl-delay of its group. Bingbot uses the delay of
// the * group if its own group has none.
func describeDelay(robots *policy.Robots, r comparedCrawler) string {
	in := func(global bool, chain ...string) string {
		agents := robots.Select(global, chain...).Agents()
		groups := robots.Groups()
		for _, record := range robots.Records() {
			if !strings.EqualFold(record.Key, "Crawl-delay") || record.Group < 0 {
				continue
			}
			for _, a := range groups[record.Group].Agents {
				if slices.Contains(agents, a) {
					return record.Value
				}
			}
		}
		return ""
	}
	value := in(true, r.chain...)
	if value == "" && r.delay == "obeyed" {
		value = in(true)
	}
	if value == "" {
		return ""
	}
	return value + " (" + r.delay + ")"
}

// interpretationNotes returns other special behavior of a reader for this file.
func interpretationNotes(robots *policy.Robots, body []byte, r comparedCrawler) []string {
	if r.name != "YandexBot" {
		return nil
	}
	var notes []string
	if len(body) > policy.MaxSize {
		notes = append(notes, "the file has more than 500 KB, so Yandex assumes that everything is allowed")
	}
	if robots.RuleCount() > yandexRules {
		notes = append(notes, "the file has more than 2,048 rules, which Yandex reports as an error")
	}
	return notes
}
