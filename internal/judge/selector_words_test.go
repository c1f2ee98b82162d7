package judge

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestSelectorWords has what people write in place of a product token, and what each is told.
func TestSelectorWords(t *testing.T) {
	for word, want := range map[string]string{
		"GPTBot": "", "token:NewBot": "", "ai_training": "", "Elastic/Synthetics": "", // which has a slash in its name
		"GPTBot/1.2":       "a version or a pattern is not allowed; write GPTBot",
		"GPTBot*":          "write GPTBot",
		"token:NewBot/1.0": "write NewBot",
		"/private/*":       "is a path, not a crawler; write paths in a matcher, as in robots_guard /private/* enforce",
		"*":                "is not a class (",
		"66.249.66.1":      "is an address; ",
		"2001:db8::1":      "@others not client_ip 2001:db8::1",
		"GPTBot,":          "separate names by spaces",
	} {
		_, err := ParseSelector(uaident.Default(), []string{word}, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", word, err, want)
		}
	}
}
