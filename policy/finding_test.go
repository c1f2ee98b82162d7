package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestFindings(t *testing.T) {
	large := "User-agent: a\nDisallow: /x\n" + strings.Repeat("# comment\n", MaxSize/10)
	tests := []struct {
		code     Code
		severity Severity
		line     int
		file     string
		message  string // a part of the message
	}{
		{TooLarge, Error, 0, large, "500 KiB"},
		{LineSplitByLimit, Warning, 51200, large[:MaxSize-2] + "Disallow: /x\n", "ignored"},
		{LineSplitByLimit, Warning, 5, "User-agent: a\r\nDisallow: /x\r\n\n#\r" + strings.Repeat("x", MaxSize), "ignored"},
		{LineTooLong, Warning, 2, "User-agent: a\nDisallow: /" + strings.Repeat("x", 8181) + "\n", "8,191"},
		{UTF16, Error, 0, "\xff\xfeU\x00", "UTF-8"},
		{ContainsNUL, Warning, 2, "User-agent: a\nDisallow: /x\x00\n", "NUL"},
		{ContainsNUL, Warning, 3, "User-agent: a\nDisallow: /x\n\x00\n", "NUL"},
		{ByteOrderMark, Info, 1, "\xef\xbb\xbfUser-agent: a\nDisallow: /x\n", "byte order mark"},
		{HTML, Error, 0, " \n<!DOCTYPE html>\n<p>User-agent: a</p>\n", "404"},
		{LineWithoutKey, Warning, 3, "User-agent: a\nDisallow: /x\nthree little words\n", `"three little words"`},
		{LineWithoutKey, Warning, 3, "User-agent: a\nDisallow: /x\ntwo words\n", `"two words"`},
		{LineWithoutKey, Warning, 3, "User-agent: a\nDisallow: /x\n: /y\n", `": /y"`},
		{LineWithoutKey, Warning, 3, "User-agent: a\nDisallow: /x\n : y z:\n", `": y z:"`},
		{MissingColon, Warning, 2, "User-agent: a\nDisallow /x\n", `"Disallow"`},
		{MisspeltKey, Warning, 2, "User-agent: a\nDissallow: /x\n", `"Dissallow"`},
		{UnknownKey, Info, 3, "User-agent: a\nDisallow: /x\nDisallowed: /y\n", `"Disallowed"`},
		{RuleOutsideGroup, Error, 1, "Disallow: /x\nUser-agent: a\nDisallow: /y\n", "User-agent: *"},
		{RuleWithoutSlash, Error, 2, "User-agent: a\nDisallow: x\n", `"x"`},
		{DollarBeforeEnd, Info, 2, "User-agent: a\nDisallow: /x$y\n", "end of a rule"},
		{EmptyAgentName, Warning, 1, "User-agent:\nDisallow: /x\n", "no name"},
		{SeveralAgentNames, Warning, 1, "User-agent: a, b\nDisallow: /x\n", `"a, b"`},
		{WildcardInAgentName, Warning, 1, "User-agent: *bot\nDisallow: /x\n", `"*bot"`},
		{WildcardInAgentName, Warning, 1, "User-agent: a*b\nDisallow: /x\n", `"a*b"`},
		{RepeatedGroup, Info, 3, "User-agent: a\nDisallow: /x\nUser-agent: A\nDisallow: /y\n", "line 1"},
		{RepeatedGroup, Info, 5, "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /x\nUser-agent: a\nDisallow: /y\n", "line 1"},
		{RepeatedGroup, Info, 3, "User-agent: *\nDisallow: /x\nUser-agent: * \nDisallow: /y\n", "line 1"},
		{GroupWithoutRule, Info, 3, "User-agent: a\nDisallow: /x\nUser-agent: b\n", `"b"`},
		{AmbiguousGroup, Warning, 3, "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /x\n", "Crawl-delay"},
	}
	seen := make(map[Code]bool)
	for _, test := range tests {
		t.Run(string(test.code), func(t *testing.T) {
			seen[test.code] = true
			findings, unreported := Parse([]byte(test.file)).Findings()
			at := slices.IndexFunc(findings, func(f Finding) bool { return f.Code == test.code })
			if at < 0 {
				t.Fatalf("the finding is missing:\n%v", findings)
			}
			f := findings[at]
			if f.Severity != test.severity || f.Line != test.line || !strings.Contains(f.Message, test.message) {
				t.Errorf("got %v, want %v in line %d with %q", f, test.severity, test.line, test.message)
			}
			others := len(findings) - 1
			if test.code == LineSplitByLimit || test.code == TooLarge {
				others-- // these two occur together
			}
			if others != 0 || unreported != 0 {
				t.Errorf("%d more findings, %d unreported:\n%v", others, unreported, findings)
			}
		})
	}
	for _, code := range Codes() {
		if !seen[code] {
			t.Errorf("no test has the finding %s", code)
		}
	}
}

// TestNoFindings checks valid files.
func TestNoFindings(t *testing.T) {
	for _, file := range []string{
		"", "\n", "# nothing\n", smallFile,
		"User-agent: a\nUser-agent: b\nDisallow:\n\nUser-agent: *\nCrawl-delay: 1\nDisallow: /*.pdf$\nAllow: *\n",
		"User-agent: a\nDisallow: /x\nDisallowAITraining: /\n",
		"User-agent: Googlebot/2.1\nUser-agent: Bingbot*\nUser-agent: Sogou web spider\nDisallow: /\n",
		"User-agent: a\nDisallow: /" + strings.Repeat("x", 8180) + "\n",
	} {
		if findings, unreported := Parse([]byte(file)).Findings(); len(findings) > 0 || unreported > 0 {
			t.Errorf("%.100q: %v", file, findings)
		}
	}
}

// TestFindingsBounded checks a file with a problem in every line.
func TestFindingsBounded(t *testing.T) {
	const lines = 1000
	findings, unreported := Parse([]byte(strings.Repeat("x: y\n", lines))).Findings()
	if len(findings) != maxFindings || len(findings)+unreported != lines {
		t.Errorf("%d findings and %d unreported of %d", len(findings), unreported, lines)
	}
	// The finding about the web page remains among findings about lines.
	findings, unreported = Parse([]byte("<html>\n" + strings.Repeat("style: y\n", lines))).Findings()
	if len(findings) != 1 || findings[0].Code != HTML || unreported != 0 {
		t.Errorf("a web page: %v, %d unreported", findings, unreported)
	}
	// Findings about the whole file remain.
	findings, _ = Parse([]byte("<html>\n" + strings.Repeat("style: y\n", MaxSize/8))).Findings()
	if len(findings) != 2 || findings[0].Code != TooLarge || findings[1].Code != HTML {
		t.Errorf("a large web page: %v", findings)
	}
	findings, _ = Parse([]byte(strings.Repeat("\u00e9", 4000) + "\n")).Findings()
	if len(findings) != 1 || len(findings[0].Message) > 300 {
		t.Errorf("a long line is quoted in full: %v", findings)
	}
}

func TestFindingString(t *testing.T) {
	for _, test := range []struct {
		finding Finding
		want    string
	}{
		{Finding{HTML, Error, 0, "a web page"}, "error: a web page [html]"},
		{Finding{LineWithoutKey, Warning, 3, "no key"}, "line 3: warning: no key [no-key]"},
		{Finding{UnknownKey, Info, 4, "unknown"}, "line 4: info: unknown [unknown-key]"},
	} {
		if got := test.finding.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
