package policy

import (
	"strings"
	"testing"
	"time"
)

func TestDelay(t *testing.T) {
	for _, tc := range []struct {
		name, file, token string
		want              Delay
	}{
		{"none", "User-agent: *\nDisallow: /x\n", "a", Delay{}},
		{"of the * group", "User-agent: *\nCrawl-delay: 10\nDisallow: /x\n", "a", Delay{10 * time.Second, 2}},
		{"behind the rules", "User-agent: *\nDisallow: /x\nCrawl-delay: 10\n", "a", Delay{10 * time.Second, 3}},
		{"a fraction", "User-agent: a\nCrawl-delay: 0.5\n", "a", Delay{500 * time.Millisecond, 2}},
		{"case makes no difference", "User-agent: a\nCRAWL-DELAY: 2\n", "a", Delay{2 * time.Second, 2}},
		{"a group of its own without one", "User-agent: a\nDisallow: /x\n\nUser-agent: *\nCrawl-delay: 10\n", "a", Delay{}},
		{"a group without rules", "User-agent: a\nCrawl-delay: 3\n\nUser-agent: *\nDisallow: /\n", "a", Delay{3 * time.Second, 2}},
		{"the least of merged groups", "User-agent: a\nCrawl-delay: 9\nDisallow: /x\nUser-agent: a\nCrawl-delay: 4\n", "a", Delay{4 * time.Second, 5}},
		{"the least of two lines", "User-agent: a\nCrawl-delay: 4\nCrawl-delay: 9\n", "a", Delay{4 * time.Second, 2}},
		{"the first of two lines that ask for the same", "User-agent: a\nCrawl-delay: 4\nCrawl-delay: 4\n", "a", Delay{4 * time.Second, 2}},
		{"nought asks for nothing", "User-agent: a\nCrawl-delay: 0\n", "a", Delay{}},
		{"no number asks for nothing", "User-agent: a\nCrawl-delay: 10 seconds\nCrawl-delay: 7\n", "a", Delay{7 * time.Second, 3}},
		{"negative asks for nothing", "User-agent: a\nCrawl-delay: -1\n", "a", Delay{}},
		{"NaN asks for nothing", "User-agent: a\nCrawl-delay: nan\n", "a", Delay{}},
		{"as long as it gets", "User-agent: a\nCrawl-delay: 999999\n", "a", Delay{MaxDelay, 2}},
		{"a million seconds are no number of them", "User-agent: a\nCrawl-delay: 1000000\nCrawl-delay: 7\n", "a", Delay{7 * time.Second, 3}},
		{"a million seconds alone ask for nothing", "User-agent: a\nCrawl-delay: 1000000\n", "a", Delay{}},
		{"nought beside another asks for nothing", "User-agent: a\nCrawl-delay: 0\nCrawl-delay: 7\n", "a", Delay{}},
		{"before any group", "Crawl-delay: 5\nUser-agent: a\nDisallow: /x\n", "a", Delay{}},
		{"another key", "User-agent: a\nCrawldelay: 5\n", "a", Delay{}},
		{"between names: for those above it", "User-agent: *\nCrawl-delay: 10\nUser-agent: b\nDisallow: /\n", "a", Delay{10 * time.Second, 2}},
		{"between names: some parsers give it to those below", "User-agent: *\nCrawl-delay: 10\nUser-agent: b\nDisallow: /\n", "b", Delay{}},
		{"between names: each its own", "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 2\nDisallow: /\n", "b", Delay{2 * time.Second, 4}},
		{"a missing colon counts for some parsers only", "User-agent: a\nCrawl-delay 10\nDisallow: /x\n", "a", Delay{}},
		{"a misspelt name counts for some parsers only", "useragent: a\nCrawl-delay: 10\nDisallow: /x\n", "a", Delay{}},
		{"two readings that ask for the same, by the line of the forgiving one", "User-agent: *\nCrawl-delay: 3\nDisallow: /x\n\nuseragent: a\nCrawl-delay: 3\n", "a", Delay{3 * time.Second, 6}},
		{"two readings, the least of both", "User-agent: *\nCrawl-delay: 3\nDisallow: /x\n\nuseragent: a\nCrawl-delay: 10\n", "a", Delay{3 * time.Second, 2}},
	} {
		if got := Parse([]byte(tc.file)).Select(true, tc.token).Delay(); got != tc.want {
			t.Errorf("%s: %+v, want %+v\n%s", tc.name, got, tc.want, tc.file)
		}
	}
	if got := (*SelectedGroup)(nil).Delay(); got != (Delay{}) {
		t.Errorf("without a group the delay is %v", got)
	}
}

// TestDelayCosts checks that a lookup of the delay does not allocate, however many lines the file
// has.
func TestDelayCosts(t *testing.T) {
	file := strings.Repeat("User-agent: a\nCrawl-delay: 5\nDisallow: /x\n", 3000)
	group := Parse([]byte(file)).Select(true, "a")
	if n := testing.AllocsPerRun(100, func() { _ = group.Delay() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDelayOrWildcard(t *testing.T) {
	const everybody = "\nUser-agent: *\nCrawl-delay: 10\nDisallow: /y\n"
	for _, tc := range []struct {
		name, file string
		want       Delay
	}{
		{"no group", "User-agent: b\nCrawl-delay: 3\n", Delay{}},
		{"the * group alone", "User-agent: *\nCrawl-delay: 10\n", Delay{10 * time.Second, 2}},
		{"a group without one", "User-agent: a\nDisallow: /x\n" + everybody, Delay{10 * time.Second, 5}},
		{"a group with its own", "User-agent: a\nCrawl-delay: 3\n" + everybody, Delay{3 * time.Second, 2}},
		{"a group with a longer one", "User-agent: a\nCrawl-delay: 30\n" + everybody, Delay{30 * time.Second, 2}},
		{"nought is one", "User-agent: a\nCrawl-delay: 0\n" + everybody, Delay{}},
		{"no number is none", "User-agent: a\nCrawl-delay: slow\n" + everybody, Delay{10 * time.Second, 5}},
		{"no delay in either", "User-agent: a\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\n", Delay{}},
		{"no * group", "User-agent: a\nDisallow: /x\n", Delay{}},
	} {
		if got := Parse([]byte(tc.file)).Select(true, "a").DelayOrWildcardDelay(); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}
