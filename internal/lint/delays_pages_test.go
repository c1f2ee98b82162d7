package lint

import (
	"strings"
	"testing"
)

// TestPages compares a Crawl-delay with the number of pages.
func TestPages(t *testing.T) {
	for _, tc := range []struct {
		text  string
		pages int
		want  string // the message; empty for none
	}{
		{"User-agent: AhrefsBot\nCrawl-delay: 10\n", 0, ""},
		{"User-agent: AhrefsBot\nCrawl-delay: 10\n", 259_200, ""}, // 30 days
		{"User-agent: AhrefsBot\nCrawl-delay: 10\n", 259_201, "10 seconds between requests for 259201 pages make a complete crawl take 30 days"},
		{"User-agent: AhrefsBot\nCrawl-delay: 5\n", 1_000_000, "take 58 days, so search engines have old copies; write at most 2.6"},
		{"User-agent: Googlebot\nCrawl-delay: 10\n", 1_000_000, ""}, // Googlebot ignores Crawl-delay
		{"User-agent: AhrefsBot\nCrawl-delay: ten\n", 1_000_000, ""},
	} {
		said := ""
		for _, f := range Check("robots.txt", []byte(tc.text), Options{Pages: tc.pages}).Findings {
			if f.Code == DelayTooLongForSite {
				said += f.Message
			}
		}
		if (said == "") != (tc.want == "") || !strings.Contains(said, tc.want) {
			t.Errorf("%d pages, %q: %q, want %q", tc.pages, tc.text, said, tc.want)
		}
	}
}
