package policy

import (
	"strings"
	"testing"
)

// TestSizeCounts adds lines to a file. Each line increases the size.
func TestSizeCounts(t *testing.T) {
	const begin = "User-agent: *\nDisallow: /x\n"
	size := func(text string) int { return Parse([]byte(text)).Size() }
	if n := size(begin); n < 1024+len(begin) || n > 2048 {
		t.Errorf("%d bytes for a file of two lines", n)
	}
	for line, least := range map[string]int{
		"# comment\n":                            0,
		"Disallow: /y\n":                         100,
		"Disallow: /*y*\n":                       100,
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
	if n := size(begin + "Disalow: /y\n" + comment); n > 2*size(begin)+2*len(comment)+1024 {
		t.Errorf("%d bytes for a file with two interpretations of the same text", n)
	}
}

// TestRoomForRules parses files with more room than rules. Only the needed memory remains.
func TestRoomForRules(t *testing.T) {
	for text, want := range map[string]int{
		"":                                     1,
		strings.Repeat("x", 700):               1,
		strings.Repeat("\n", 700):              101,
		strings.Repeat("\r", 700):              101,
		strings.Repeat("\r\n", 350):            101,
		strings.Repeat("Disallow: /\n", 50):    51,
		strings.Repeat("Disallow: /\r\n", 40):  75,
		strings.Repeat("a\nDisallow: /x\r", 9): 19,
	} {
		if got := estimateRules(text); got != want {
			t.Errorf("%.20q and so on: capacity for %d rules, want %d", text, got, want)
		}
	}
	for _, file := range []string{
		strings.Repeat("x", maxBufferedSize+1),
		strings.Repeat("\r", maxBufferedSize+1),
		"User-agent: a\n" + strings.Repeat("\n", maxBufferedSize) + "Disallow: /x\n",
		"User-agent: a\n" + strings.Repeat("\n\n\n\n# a\nDisallow: /x\n", maxBufferedSize/10),
		"User-agent: a\n" + strings.Repeat("Disallow: /x\n", maxBufferedSize/10),
		"User-agent: a\n" + strings.Repeat("Disallow: /x\n", 11),
	} {
		r := Parse([]byte(file))
		if n := strings.Count(file, "Disallow"); r.RuleCount() != n || cap(r.rules) > n+n/16 {
			t.Errorf("%.30q and so on: capacity %d for %d rules, want %d", file, cap(r.rules), r.RuleCount(), n)
		}
	}
}

// TestTablesStaySmall parses a large file. The tables for small files stay unchanged.
func TestTablesStaySmall(t *testing.T) {
	Parse([]byte("User-agent: a\n" + strings.Repeat("Disallow: /x\n", maxBufferedSize)))
	for range 10 {
		if tables := parseBufferPool.Get().(*parseBuffers); cap(tables.rules) > maxBufferedSize {
			t.Errorf("the tables have capacity for %d rules", cap(tables.rules))
		}
	}
}

// TestTablesOfNames compares few names one by one, and looks up many names in tables.
func TestTablesOfNames(t *testing.T) {
	for lines, want := range map[int]bool{1: false, maxUnindexedNames: false, maxUnindexedNames + 1: true, 1000: true} {
		r := Parse([]byte(strings.Repeat("User-agent: a\n", lines) + "Disallow: /\n"))
		if r.agentsByWord != nil != want || newAgentByName(lines) != nil != want {
			t.Errorf("%d names have a table for selection: %t, for parsing: %t", lines, r.agentsByWord != nil, newAgentByName(lines) != nil)
		}
		if r.Select(false, "a").Judge("/").Allowed {
			t.Errorf("none of %d names is found", lines)
		}
	}
}
