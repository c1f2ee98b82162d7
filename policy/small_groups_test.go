package policy

import (
	"strings"
	"testing"
)

// smallLines are the lines of groups: names, rules, an extension, lines that end no group, and
// misspelled keys.
var smallLines = []string{
	"User-agent: a", "User-agent: b", "User-agent: *", "Allow: /x", "Disallow: /", "Crawl-delay: 1", "", "# nothing", "Disalow: /x", "useragent: a",
}

// TestEverySmallStructure judges three crawlers by files of up to six lines in both
// interpretations, and compares with the naive implementation. Without -small it uses all files of
// up to three lines and a sample of the others.
func TestEverySmallStructure(t *testing.T) {
	t.Parallel()
	part, parts, all := smallPart(t)
	total, short := 0, 0
	for n, count := 1, 1; n <= 6; n++ {
		count *= len(smallLines)
		if total += count; n <= 3 {
			short = total
		}
	}
	if all {
		short = 0
	} else if parts = 4999; raceEnabled {
		short, parts = 100, 49_999
	}
	n := int64(0)
	for i := range short {
		n += compareSmallFile(t, i)
	}
	for i := short + part; i < total; i += parts {
		n += compareSmallFile(t, i)
	}
	t.Logf("%d comparisons of %d files", n, total)
}

// compareSmallFile compares the verdicts of one file, and returns the number of comparisons.
func compareSmallFile(t *testing.T, number int) (n int64) {
	t.Helper()
	lines, count := 1, len(smallLines)
	for ; number >= count; lines, count = lines+1, count*len(smallLines) {
		number -= count
	}
	var text strings.Builder
	for range lines {
		text.WriteString(smallLines[number%len(smallLines)] + "\n")
		number /= len(smallLines)
	}
	r := Parse([]byte(text.String()))
	for _, token := range []string{"a", "b", "c"} {
		for _, target := range []string{"/x", "/y"} {
			compareWithNaive(t, r, token, target)
			n += 2
		}
	}
	return n
}
