package policy

import (
	"strings"
	"testing"
)

// TestSizeCounts adds lines to a file, each of which takes memory.
func TestSizeCounts(t *testing.T) {
	const begin = "User-agent: *\nDisallow: /x\n"
	size := func(text string) int { return Parse([]byte(text)).Size() }
	if n := size(begin); n < 1024+len(begin) || n > 2048 {
		t.Errorf("%d bytes for a file of two lines", n)
	}
	for line, least := range map[string]int{
		"# comment\n":                            0,
		"Disallow: /y\n":                         100,
		"Disallow: /*y*\n":                       200,
		"User-agent: b\n":                        100,
		"Host: example.com\n":                    50,
		"Sitemap: https://example.com/sitemap\n": 130,
		"Crawl-delay: 1\n":                       70,
		"Content-Usage: train-ai=n\n":            900,
		"neither key nor value\n":                150,
		"* * * *\n":                              150,
	} {
		got, most := size(begin+line)-size(begin), len(line)+2*least+250
		if got < len(line)+least || got > most {
			t.Errorf("%q: %d bytes more, want %d to %d", line, got, len(line)+least, most)
		}
	}
	comment := strings.Repeat("# comment\n", 1000)
	if n := size(begin + "Disalow: /y\n" + comment); n > 2*size(begin)+len(comment)+1024 {
		t.Errorf("%d bytes for a file of two readings, which share its text", n)
	}
}
