package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
	if limiters == 0 {
		t.Error("no page shows a limiter")
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
