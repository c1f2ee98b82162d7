package lint

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// section is a code of docs/findings.md, with its example in testdata/examples.txt.
type section struct {
	code, severity, example string
}

var (
	heading  = regexp.MustCompile(`(?m)^### (.*)$`)
	severity = regexp.MustCompile(`^\n\n\*(\w+)\* · [^\n]+\n`)
	repeated = regexp.MustCompile(`(?m)^([^\n]*\n)\((\d+) times\)\n`)
	filled   = regexp.MustCompile(`\\\((\d+) x\)`)
	byteCode = regexp.MustCompile(`\\x[0-9a-f]{2}`)
)

// sections reads the page and the examples.
func sections(t *testing.T) []section {
	t.Helper()
	text, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), "\r\n", "\n")
	robotsOf := exampleFiles(t)
	var all []section
	at := heading.FindAllStringSubmatchIndex(page, -1)
	for i, m := range at {
		end := len(page)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		code := page[m[2]:m[3]]
		parts, example := severity.FindStringSubmatch(page[m[3]:end]), robotsOf[code]
		if parts == nil || example == "" {
			t.Errorf("%s: no severity or no example", code)
			continue
		}
		all = append(all, section{code, parts[1], unfold(example)})
	}
	return all
}

// exampleFiles returns a robots.txt for each code. Each begins after a line "== CODE".
func exampleFiles(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	byCode := make(map[string]string)
	for _, example := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n== ")[1:] {
		code, robots, _ := strings.Cut(example, "\n")
		byCode[code] = strings.TrimRight(robots, "\n") + "\n"
	}
	return byCode
}

// unfold replaces notations for bytes that a page cannot show.
func unfold(example string) string {
	example = repeated.ReplaceAllStringFunc(example, func(s string) string {
		m := repeated.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[2]) // digits
		return strings.Repeat(m[1], n)
	})
	example = filled.ReplaceAllStringFunc(example, func(s string) string {
		n, _ := strconv.Atoi(filled.FindStringSubmatch(s)[1])
		return strings.Repeat("x", n)
	})
	return byteCode.ReplaceAllStringFunc(example, func(s string) string {
		c, _ := strconv.ParseUint(s[2:], 16, 8)
		return string([]byte{byte(c)})
	})
}

// together lists codes that always occur with others.
var together = map[policy.Code][]policy.Code{
	policy.LineSplitByLimit: {policy.TooLarge}, AdsCrawlersIgnoreWildcard: {SearchEnginesDisallowed}, InvalidSignal: {ContentSignal}, RelativeLicenseURL: {License}, LicenseInGroup: {License},
	InvalidUsage: {ContentUsage}, UnknownUsageLabel: {ContentUsage}, RelativeUsagePath: {ContentUsage}, ConflictingUsages: {ContentUsage}, UsageOfDisallowedPath: {ContentUsage},
	OmittedPreference: {ContentUsage}, TrainingCrawlersAllowed: {ContentUsage}, ContradictoryPreferences: {ContentUsage, ContentSignal}, ContentSignal: {TrainingCrawlersAllowed},
}

// TestPage checks that every example causes only its own finding, and that docs/findings.md
// documents every code.
func TestPage(t *testing.T) {
	var documented []policy.Code
	for _, s := range sections(t) {
		t.Run(s.code, func(t *testing.T) {
			code := policy.Code(s.code)
			if slices.Contains(documented, code) {
				t.Error("it stands there twice")
			}
			documented = append(documented, code)
			if got := severities[code].String(); got != s.severity {
				t.Errorf("the page says %s, it is %s", s.severity, got)
			}
			found := false
			options := Options{Site: "https://example.com"}
			if code == DelayTooLongForSite {
				options.Pages = 600_000
			}
			report := Check("robots.txt", []byte(s.example), options)
			for _, f := range report.Findings {
				switch {
				case f.Code == code:
					found = true
					if f.Severity != severities[code] {
						t.Errorf("severity %s, want %s", f.Severity, severities[code])
					}
				case slices.Contains(together[code], f.Code):
				default:
					t.Errorf("also found: %+v", f)
				}
				if (f.Line == 0) != (f.Column == 0) {
					t.Errorf("line %d and column %d", f.Line, f.Column)
				}
			}
			if !found {
				t.Errorf("not found, but %v", report.Findings)
			}
		})
	}
	for _, code := range codes() {
		if !slices.Contains(documented, code) {
			t.Errorf("%s does not stand in docs/findings.md", code)
		}
	}
	for _, code := range documented {
		if !slices.Contains(codes(), code) {
			t.Errorf("docs/findings.md has %s, which nothing reports", code)
		}
	}
}

// codes returns every code that Check may report.
func codes() []policy.Code { return slices.Sorted(maps.Keys(severities)) }
