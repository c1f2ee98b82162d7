package docs

import (
	"cmp"
	"fmt"
	"os"
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
