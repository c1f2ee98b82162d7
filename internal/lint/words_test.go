package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestWrittenOtherwise has lines in other syntaxes, and correct lines.
func TestWrittenOtherwise(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		code       policy.Code
		line       int // 0 for none
		says       string
	}{
		{"two names", "User-agent: GPTBot CCBot\nDisallow: /\n", policy.SeveralAgentNames, 1, `only the first name in "GPTBot CCBot" is read`},
		{"a name that nobody knows, and one", "User-agent: Zorkly GPTBot\nDisallow: /\n", policy.SeveralAgentNames, 1, "give each its own"},
		{"a name of three words", "User-agent: Sogou web spider\nDisallow: /\n", policy.SeveralAgentNames, 0, ""},
		{"a name and a word", "User-agent: Googlebot Images\nDisallow: /\n", policy.SeveralAgentNames, 0, ""},
		{"commas are told of once", "User-agent: GPTBot, CCBot\nDisallow: /\n", policy.SeveralAgentNames, 1, "GPTBot, CCBot"},
		{"a class", "User-agent: ai_training\nDisallow: /\n", UnknownCrawlerName, 1, "use the directive robots_txt with disallow ai_training"},
		{"a regular expression", "User-agent: *\nDisallow: /.*\\.pdf$\n", RegexpInPath, 2, "is not a regular expression"},
		{"digits", "User-agent: *\nDisallow: /a/\\d+/\n", RegexpInPath, 2, "has no special meaning"},
		{"hidden files", "User-agent: *\nDisallow: /.*\n", RegexpInPath, 0, ""},
		{"a path of Windows", "User-agent: *\nDisallow: /a\\b\n", RegexpInPath, 0, ""},
	} {
		report := Check("x", []byte(tc.file), Options{})
		found := slices.DeleteFunc(slices.Clone(report.Findings), func(f Finding) bool { return f.Code != tc.code })
		switch {
		case tc.line == 0 && len(found) > 0 || tc.line > 0 && len(found) != 1:
			t.Errorf("%s: %v", tc.name, report.Findings)
		case tc.line > 0 && (found[0].Line != tc.line || !strings.Contains(found[0].Message, tc.says)):
			t.Errorf("%s: got %+v, want line %d and %q", tc.name, found[0], tc.line, tc.says)
		}
	}
}
