package docs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestCrawlDelayOfOperators holds the table of what operators do with Crawl-delay to
// the registry, row by row.
func TestCrawlDelayOfOperators(t *testing.T) {
	page, err := os.ReadFile("rates.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ operator, habit, longest, source string }
	tokens := make(map[row][]string)
	for _, c := range uaident.Default().Crawlers() {
		if d := c.CrawlDelay; d.Source != "" {
			longest := ""
			if d.Max > 0 {
				longest = fmt.Sprintf("%g s", d.Max.Seconds())
			}
			r := row{c.Operator, d.Habit.String(), longest, d.Source}
			tokens[r] = append(tokens[r], c.Token)
		}
	}
	var want []string
	for r, of := range tokens {
		slices.SortFunc(of, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
		want = append(want, fmt.Sprintf("| %s | %s | %s | %s | [page](%s) |", r.operator, strings.Join(of, ", "), r.habit, r.longest, r.source))
	}
	slices.Sort(want)
	got := regexp.MustCompile(`(?m)^\|.*\[page\]\(.*\|$`).FindAllString(strings.ReplaceAll(string(page), "\r\n", "\n"), -1)
	if missing := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(got, s) }); len(missing) > 0 {
		t.Errorf("docs/rates.md lacks\n%s", strings.Join(missing, "\n"))
	}
	if foreign := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return slices.Contains(want, s) }); len(foreign) > 0 {
		t.Errorf("docs/rates.md has what the registry does not say\n%s", strings.Join(foreign, "\n"))
	}
	if !slices.IsSorted(got) {
		t.Error("the rows of docs/rates.md are not in order")
	}
}

// TestLimitersSpareRobots holds each limiter of others that a page shows to leave out the
// robots.txt: some crawlers take one that is answered 429 for a site that is closed.
func TestLimitersSpareRobots(t *testing.T) {
	limiters := 0
	for _, page := range append(globbed(t, "*.md"), globbed(t, "guides/*.md")...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```caddyfile\n.*?\n```").FindAllString(strings.ReplaceAll(string(text), "\r\n", "\n"), -1) {
			for _, use := range regexp.MustCompile(`(?m)^\s*rate_limit( @\w+)? \{`).FindAllStringSubmatch(block, -1) {
				limiters++
				matcher := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(strings.TrimSpace(use[1])) + ` \{[^}]*\n\s*not path /robots\.txt `)
				if use[1] == "" || !matcher.MatchString(block) {
					t.Errorf("%s:%s limits the robots.txt, too", page, use[0])
				}
			}
		}
	}
	if limiters < 2 {
		t.Errorf("%d limiters are shown", limiters)
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
