package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// outline formats the content of a file in canonical spelling, one group per line.
func outline(r *Robots) string {
	var b strings.Builder
	for _, g := range r.Groups() {
		for i, a := range g.Agents {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(a.Name)
		}
		b.WriteString(":")
		for _, x := range g.Rules {
			fmt.Fprintf(&b, " %c%s", map[bool]rune{true: '+', false: '-'}[x.Allow], x.Path)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	tests := []struct{ name, file, want string }{
		// RFC 9309 section 2.2, the ABNF.
		{"robotstxt: nothing", "", ""},
		{"robotstxt: groups and empty lines", "\nUser-agent: a\nDisallow: /x\n\n\nUser-agent: b\nAllow: /y\n", "a: -/x\nb: +/y\n"},
		{"group: several startgroup lines", "User-agent: a\nUser-agent: b\nDisallow: /x\n", "a,b: -/x\n"},
		{"group: empty lines between startgroup lines", "User-agent: a\n\n\nUser-agent: b\n\nDisallow: /x\n", "a,b: -/x\n"},
		{"group: no rule at all", "User-agent: a\n", "a:\n"},
		{"startgroupline: white space around the key and the colon", " \tUser-agent \t:\t a \nDisallow: /\n", "a: -/\n"},
		{"startgroupline: no white space", "User-agent:a\nDisallow:/x\n", "a: -/x\n"},
		{"rule: keys without case", "USER-AGENT: a\ndisAllow: /x\naLLOW: /y\n", "a: -/x +/y\n"},
		{"rule: empty-pattern", "User-agent: a\nDisallow:\nAllow: \n", "a: - +\n"},
		{"comment: a line of its own", "# x\nUser-agent: a\n  # Disallow: /\nDisallow: /x\n", "a: -/x\n"},
		{"comment: after a value", "User-agent: a # b\nDisallow: /x# y\nAllow: /z #\n", "a: -/x +/z\n"},
		{"comment: in place of a value", "User-agent: a\nDisallow: # /x\n", "a: -\n"},
		{"EOL: LF", "User-agent: a\nDisallow: /x\n", "a: -/x\n"},
		{"EOL: CR", "User-agent: a\rDisallow: /x\r", "a: -/x\n"},
		{"EOL: CRLF", "User-agent: a\r\nDisallow: /x\r\n", "a: -/x\n"},
		{"EOL: mixed", "User-agent: a\rDisallow: /x\n\rAllow: /y\r\r\nAllow: /z", "a: -/x +/y +/z\n"},
		{"EOL: none at the end of the file", "User-agent: a\nDisallow: /x", "a: -/x\n"},
		{"UTF8-char-noctl: a path beyond ASCII", "User-agent: a\nDisallow: /é/日本\n", "a: -/é/日本\n"},

		// RFC 9309 section 2.2.1 to 2.2.4.
		{"2.2.1: a rule before any user-agent line is ignored", "Disallow: /x\nUser-agent: a\nAllow: /y\n", "a: +/y\n"},
		{"2.2.2: a rule for nobody does not open a group", "Disallow: /\n", ""},
		{"2.2.4: other records do not interfere", "User-agent: a\nSitemap: s\nUser-agent: b\nDisallow: /x\nSitemap: t\nAllow: /y\n", "a,b: -/x +/y\n"},
		{"2.3.1.5: what cannot be parsed is skipped", "User-agent: a\n????\n\x01\x02: \x03\nDisallow: /x\n", "a: -/x\n"},

		// The file format table.
		{"encoding: BOM", "\xef\xbb\xbfUser-agent: a\nDisallow: /x\n", "a: -/x\n"},
		{"encoding: BOM without its last byte", "\xef\xbbUser-agent: a\nDisallow: /x\n", "a: -/x\n"},
		{"encoding: BOM without its last two bytes", "\xefUser-agent: a\nDisallow: /x\n", "a: -/x\n"},
		{"encoding: a second BOM is part of a key", "\xef\xbb\xbf\xef\xbb\xbfUser-agent: a\nDisallow: /x\n", ""},
		{"encoding: a BOM elsewhere is part of a key", "User-agent: a\n\xef\xbb\xbfDisallow: /x\n", "a:\n"},
		{"encoding: invalid UTF-8 is kept", "User-agent: a\nDisallow: /\xff\xe9\n", "a: -/\xff\xe9\n"},
		{"encoding: UTF-16, little endian", "\xff\xfeU\x00s\x00e\x00r\x00", ""},
		{"encoding: UTF-16, big endian", "\xfe\xff\x00U\x00s\x00e\x00r", ""},
		{"encoding: UTF-16 without a mark", "U\x00s\x00e\x00r\x00\n\x00D\x00", ""},
		{"encoding: NUL ends a line", "User-agent: a\nDisallow: /x\x00y\nAllow: /z\x00\n", "a: -/x +/z\n"},
		{"encoding: what follows NUL is no line", "User-agent: a\x00\nDisallow: /x\x00Disallow: /\n", "a: -/x\n"},
		{"encoding: NUL at the start of the file", "\x00x\nUser-agent: a\nDisallow: /x\x00y\n", "a: -/x\n"},
		{"encoding: NUL at the start of a line", "User-agent: a\n\x00Disallow: /x\n\x00\nDisallow: /y\n", "a: -/y\n"},
		{"line length: no limit", "User-agent: a\nDisallow: /" + strings.Repeat("x", 100_000) + "\n", "a: -/" + strings.Repeat("x", 100_000) + "\n"},
		{"HTML: no rule", "<!DOCTYPE html>\n<p style='color: red'>Not found</p>\n", ""},
		{"HTML: what parses counts", "<pre>\nUser-agent: a\nDisallow: /x\n</pre>\n", "a: -/x\n"},
		{"comment: anywhere", "User-agent: a#b\nDis#allow: /\nDisallow: /x\n", "a: -/x\n"},
		{"keys: Google's misspellings of user-agent", "useragent: a\nuser agent: b\nDisallow: /x\n", "a,b: -/x\n"},
		{"keys: Google's misspellings of disallow", "User-agent: a\ndissallow: /1\ndissalow: /2\ndisalow: /3\ndiasllow: /4\ndisallaw: /5\n", "a: -/1 -/2 -/3 -/4 -/5\n"},
		{"keys: not by prefix", "User-agent: a\nDisallowAITraining: /\nDisallow-all: /\nAllowed: /\nUser-agents: b\n", "a:\n"},
		{"keys: not by suffix", "User-agent: a\nxDisallow: /\n-Allow: /\n", "a:\n"},
		{"missing colon: two words", "User-agent a\nDisallow\t/x\nAllow   /y\n", "a: -/x +/y\n"},
		{"missing colon: one word", "User-agent: a\nDisallow\nUser-agent: b\nDisallow: /x\n", "a,b: -/x\n"},
		{"missing colon: three words", "User-agent: a\nDisallow /x /y\nUser agent b\n", "a:\n"},
		{"missing colon: an unknown first word", "User-agent: a\nForbid /x\n", "a:\n"},
		{"a value keeps its colons and inner white space", "User-agent: a b\nDisallow: /x:y z\n", "a b: -/x:y z\n"},
		{"vertical tab and form feed are no white space", "User-agent:\va\f\nDisallow:\f/x\v\nDisallow\v: /y\nDisallow\f/z\nDisallow /\v\n", "\va\f: -\f/x\v -/\v\n"},
		{"* and a form feed is a name", "User-agent: *\f\nDisallow: /\n", "*\f: -/\n"},
		{"a no-break space is no white space", "User-agent: a\nDisallow: /x\u00a0\n", "a: -/x\u00a0\n"},
		{"an empty key", "User-agent: a\n: /x\n:\n", "a:\n"},

		// Groups.
		{"groups: a rule ends the run of user-agent lines", "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /y\n", "a: -/x\nb: -/y\n"},
		{"groups: an empty rule ends it, too", "User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /y\n", "a: -\nb: -/y\n"},
		{"groups: a rule that matches nothing ends it, too", "User-agent: a\nDisallow: x\nUser-agent: b\nDisallow: /y\n", "a: -x\nb: -/y\n"},
		{"groups: blank, unknown, sitemap and file lines close nothing", "User-agent: a\n\nFoo: x\nSitemap: s\nHost: h\nUser-agent: b\nDisallow: /x\n", "a,b: -/x\n"},
		{"groups: an odd user-agent line opens one", "User-agent: a\nDisallow: /x\nUser-agent:\nDisallow: /\n", "a: -/x\n: -/\n"},
		{"groups: rules after an extension line belong to the group", "User-agent: a\nDisallow: /x\nCrawl-delay: 1\nDisallow: /y\n", "a: -/x -/y\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(Parse([]byte(test.file))); got != test.want {
				t.Errorf("Parse(%.200q):\ngot\n%.200s\nwant\n%.200s", test.file, got, test.want)
			}
		})
	}
}

// TestSize checks RFC 9309 section 2.5 and Google's limit of 500 KiB.
func TestSize(t *testing.T) {
	const head = "User-agent: *\n"
	const rule = "Disallow: /private/x\n"
	// file returns a file with a comment line before rest, which starts at the offset.
	file := func(offset int, rest string) string {
		return head + "#" + strings.Repeat("x", offset-len(head)-2) + "\n" + rest
	}
	tests := []struct {
		name, file string
		want       string
		size       int
		codes      []Code
	}{
		{"exactly 512,000 bytes", file(MaxSize-len(rule), rule), "*: -/private/x\n", MaxSize, nil},
		{"512,000 bytes without a line end", file(MaxSize-len(rule)+1, rule[:len(rule)-1]), "*: -/private/x\n", MaxSize, nil},
		{"the cut before the line end", file(MaxSize-len(rule)+1, rule+"Disallow: /\n"), "*: -/private/x\n", MaxSize, []Code{TooLarge}},
		{"the cut after the line end", file(MaxSize-len(rule), rule+"Disallow: /\n"), "*: -/private/x\n", MaxSize, []Code{TooLarge}},
		{"the cut within a line", file(MaxSize-len("Disallow: /"), rule), "*:\n", MaxSize - len("Disallow: /"), []Code{TooLarge, LineSplitByLimit}},
		{"the cut before the last byte of a line", file(MaxSize-len(rule)+2, rule), "*:\n", MaxSize - len(rule) + 2, []Code{TooLarge, LineSplitByLimit}},
		{"the cut between CR and LF", file(MaxSize-len(rule), "Disallow: /private/x\r\nDisallow: /\n"), "*: -/private/x\n", MaxSize, []Code{TooLarge}},
		{"the cut before CRLF", file(MaxSize-len(rule)+1, "Disallow: /private/x\r\nDisallow: /\n"), "*: -/private/x\n", MaxSize, []Code{TooLarge}},
		{"the cut after CRLF", file(MaxSize-len(rule)-1, "Disallow: /private/x\r\nDisallow: /\n"), "*: -/private/x\n", MaxSize, []Code{TooLarge}},
		{"the cut after CR", file(MaxSize-len(rule), "Disallow: /private/x\rDisallow: /\r"), "*: -/private/x\n", MaxSize, []Code{TooLarge}},
		{"what follows is not enforced", head + strings.Repeat("#\n", MaxSize/2) + rule, "*:\n", MaxSize, []Code{TooLarge}},
		{"one line", strings.Repeat("x", MaxSize+1), "", 0, []Code{TooLarge, LineSplitByLimit}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Parse([]byte(test.file))
			if got := outline(r); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if len(r.Text()) != test.size || !strings.HasPrefix(test.file, r.Text()) {
				t.Errorf("%d bytes were parsed, want the first %d", len(r.Text()), test.size)
			}
			var codes []Code
			findings, _ := r.Findings()
			for _, f := range findings {
				if f.Code == TooLarge || f.Code == LineSplitByLimit {
					codes = append(codes, f.Code)
				}
			}
			if !slices.Equal(codes, test.codes) {
				t.Errorf("findings are %v, want %v", codes, test.codes)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	r := Parse([]byte(`Sitemap: https://example.com/a.xml
User-agent: a
Crawl-delay: 2
Request-rate: 1/5
Visit-time: 0600-0845
Noindex: /x
Content-Signal: ai-train=no
Content-Usage: ai=n
Disallow: /
site-map: https://example.com/b.xml
Host: example.com
Clean-param: ref /x
License: https://example.com/l
LLM-Policy: /llm.txt
User-agent: b
CRAWL-DELAY:
Other: x
`))
	want := []Record{
		{"Sitemap", "https://example.com/a.xml", 1, -1},
		{"Crawl-delay", "2", 3, 0},
		{"Request-rate", "1/5", 4, 0},
		{"Visit-time", "0600-0845", 5, 0},
		{"Noindex", "/x", 6, 0},
		{"Content-Signal", "ai-train=no", 7, 0},
		{"Content-Usage", "ai=n", 8, 0},
		{"site-map", "https://example.com/b.xml", 10, -1},
		{"Host", "example.com", 11, -1},
		{"Clean-param", "ref /x", 12, -1},
		{"License", "https://example.com/l", 13, -1},
		{"LLM-Policy", "/llm.txt", 14, -1},
		{"CRAWL-DELAY", "", 16, 1},
	}
	if got := r.Records(); !slices.Equal(got, want) {
		t.Errorf("records are\n%+v, want\n%+v", got, want)
	}
	if got, want := r.GroupNames(), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("names are %q, want %q", got, want)
	}
	if r.RuleCount() != 1 {
		t.Errorf("%d rules, want 1", r.RuleCount())
	}
}

// TestLines checks line numbers with every kind of line end.
func TestLines(t *testing.T) {
	for _, eol := range []string{"\n", "\r", "\r\n"} {
		file := strings.ReplaceAll("# x|| User-agent: a|Crawl-delay: 1||Disallow: /x|Foo: y|", "|", eol)
		for _, start := range []string{"", "\xef\xbb\xbf"} {
			r := Parse([]byte(start + file))
			g := r.Groups()[0]
			findings, _ := r.Findings()
			last := findings[len(findings)-1]
			if g.Agents[0].Line != 3 || g.Rules[0].Line != 6 || r.Records()[0].Line != 4 || last.Line != 7 || last.Code != UnknownKey {
				t.Errorf("line end %q: %+v, %+v, %v", eol, g, r.Records(), last)
			}
		}
	}
}

// TestParseCopies checks that the caller may reuse the body.
func TestParseCopies(t *testing.T) {
	body := []byte("User-agent: a\nDisallow: /x\n")
	r := Parse(body)
	copy(body, bytes.Repeat([]byte("z"), len(body)))
	if got, want := outline(r), "a: -/x\n"; got != want {
		t.Errorf("after the body changed: %q, want %q", got, want)
	}
}

// TestNothingChanges adds lines without an effect.
func TestNothingChanges(t *testing.T) {
	for _, file := range append(oddFiles, smallFile) {
		if strings.HasPrefix(file, "\xef") || strings.HasPrefix(file, "\xff") {
			continue
		}
		want := outline(Parse([]byte(file)))
		for _, line := range []string{"", " \t", "# x", "Foo: bar", "Sitemap: https://example.com/", "one two three", "\x00Disallow: /"} {
			lines := strings.SplitAfter(strings.ReplaceAll(file, "\r", "\n"), "\n")
			if got := outline(Parse([]byte(strings.Join(lines, line+"\n")))); got != want {
				t.Errorf("%q between the lines of %q:\ngot\n%s\nwant\n%s", line, file, got, want)
			}
		}
	}
}
