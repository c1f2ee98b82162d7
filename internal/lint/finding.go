package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Finding is a mistake in a robots.txt, or a hint about one of its lines.
type Finding struct {
	Code     policy.Code     `json:"code"`
	Severity policy.Severity `json:"severity"`
	Line     int             `json:"line"` // Line is counted from 1. It is 0 for the whole file.
	// Column is the column of the first character, in Unicode code points from 1. It is 0 for the
	// whole file.
	Column  int    `json:"column"`
	Message string `json:"message"` // Message describes the problem and the remedy.
	// Help is the URL of the documentation of the code, set by [Check].
	Help string `json:"help,omitempty"`
}

// Report has the findings about a robots.txt.
type Report struct {
	Name     string    `json:"name"` // Name is the name of the robots.txt file.
	Findings []Finding `json:"findings"`
	// UnlistedFindings is the number of findings that Findings omits.
	UnlistedFindings int                `json:"unreported"`
	Comparison       *CrawlerComparison `json:"readings"` // Comparison is set by [Check].
}

// SeverityCount returns the number of findings with this severity.
func (r *Report) SeverityCount(s policy.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// TotalCount returns the number of findings, including UnlistedFindings.
func (r *Report) TotalCount() int { return len(r.Findings) + r.UnlistedFindings }

// HighestSeverity returns the highest severity among the findings. ok is false if there are no
// findings.
func (r *Report) HighestSeverity() (worst policy.Severity, ok bool) {
	for _, f := range r.Findings {
		worst, ok = max(worst, f.Severity), true
	}
	return worst, ok || r.UnlistedFindings > 0
}

// Options describes the site of the checked robots.txt.
type Options struct {
	// Site is the scheme and host of the site, such as https://example.com, or empty.
	Site string
	// Pages is the number of pages of the site, or 0 if unknown.
	Pages int
}

// Check returns the findings about a robots.txt, and how well-known crawlers interpret it. name is
// the file name for the report. body may contain any bytes. If the file is longer than
// [policy.MaxSize], body must contain more than MaxSize bytes. The time is approximately linear in
// the size.
func Check(name string, body []byte, options Options) *Report {
	robots := policy.Parse(body)
	report := CheckParsed(robots, options)
	report.Name = name
	report.Comparison = compareCrawlers(robots)
	for i := range report.Findings {
		report.Findings[i].Help = findingsPage + string(report.Findings[i].Code)
	}
	return report
}

// findingsPage is the URL of the documentation of findings, without the code.
const findingsPage = "https://github.com/robotsguard/caddy-robots-guard/blob/main/docs/findings.md#"

// CheckParsed returns the findings of [Check] about a parsed file. Name, Comparison and Help stay
// empty.
func CheckParsed(robots *policy.Robots, options Options) *Report {
	c := checker{robots: robots, options: options, report: &Report{Findings: []Finding{}}, remainingWork: maxComparisonWork}
	c.lines = splitLines(c.robots.Text())
	c.groups = c.robots.Groups()
	c.addParserFindings()
	if c.lines.len() > 0 && !c.hasFinding(policy.HTML) {
		c.checkLines()
		c.checkNames()
		c.checkGroups()
		c.checkRules()
		c.checkRecords()
		c.checkPreferences()
		c.addRepeatedFindings()
	}
	if c.isEmpty() {
		c.addFinding(EmptyFile, 0, 0, "the file has no rules, so everything is allowed; if that is intended, write \"User-agent: *\" and an empty Disallow line")
	}
	c.report.sort()
	return c.report
}

// sort sorts the findings by line and column.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// maxFindings is the maximum number of findings in a report.
const maxFindings = 500

// checker is the state of [CheckParsed].
type checker struct {
	robots           *policy.Robots
	lines            fileLines
	groups           []policy.Group
	options          Options
	report           *Report
	repeatedFindings []*repeatedFinding
	// emptyGroups caches the results of emptyGroupAllowsSite by first line of the group.
	emptyGroups   map[int]bool
	remainingWork int // remainingWork decreases from maxComparisonWork to 0.
	// delayHandling caches the results of delayHandlingFor by index of the group.
	delayHandling map[int]*delayHandling
}

// addFinding adds a finding to the report. Beyond maxFindings it only counts the finding.
func (c *checker) addFinding(code policy.Code, line, column int, format string, args ...any) {
	if len(c.report.Findings) >= maxFindings {
		c.report.UnlistedFindings++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{
		Code: code, Severity: severities[code], Line: line, Column: column, Message: fmt.Sprintf(format, args...),
	})
}

// repeatedFinding is a finding for the first line with a mistake. Its message lists further lines
// with the same mistake.
type repeatedFinding struct {
	Finding
	otherLines        []int // otherLines are the first few other lines with the same finding.
	unlistedLineCount int
}

// addOncePerFile does the same as addValueFinding, but all findings with this code become one. Its
// message is that of the first call and lists the lines of the other calls.
func (c *checker) addOncePerFile(code policy.Code, line int, format string, args ...any) {
	for _, t := range c.repeatedFindings {
		switch {
		case t.Code != code:
		case len(t.otherLines) < 5:
			t.otherLines = append(t.otherLines, line)
			return
		default:
			t.unlistedLineCount++
			return
		}
	}
	c.repeatedFindings = append(c.repeatedFindings, &repeatedFinding{Finding: Finding{Code: code, Line: line, Message: fmt.Sprintf(format, args...)}})
}

// addRepeatedFindings adds the findings that addOncePerFile has collected to the report.
func (c *checker) addRepeatedFindings() {
	for _, t := range c.repeatedFindings {
		if len(t.otherLines) > 0 {
			slices.Sort(t.otherLines)
			words := strings.Trim(fmt.Sprint(t.otherLines), "[]")
			in := " (likewise in line "
			if len(t.otherLines) > 1 {
				in = " (likewise in lines "
			}
			t.Message += in + strings.ReplaceAll(words, " ", ", ")
			if t.unlistedLineCount > 0 {
				t.Message += fmt.Sprintf(" and %d more", t.unlistedLineCount)
			}
			t.Message += ")"
		}
		c.addValueFinding(t.Code, t.Line, "%s", t.Message)
	}
}

// addValueFinding adds a finding at the column where the value of a line begins.
func (c *checker) addValueFinding(code policy.Code, line int, format string, args ...any) {
	c.addFinding(code, line, c.lineByNumber(line).valueColumn(), format, args...)
}

// lineByNumber returns the line with this number, counted from 1. lineByNumber returns an empty
// line if there is none.
func (c *checker) lineByNumber(number int) line {
	if number < 1 || number > c.lines.len() {
		return line{}
	}
	return c.lines.lineByIndex(number - 1)
}

// hasFinding reports whether the report has a finding with this code.
func (c *checker) hasFinding(code policy.Code) bool {
	return slices.ContainsFunc(c.report.Findings, func(f Finding) bool { return f.Code == code })
}

// isEmpty reports whether the file has neither a group nor a record, and no finding tells the
// reason.
func (c *checker) isEmpty() bool {
	return len(c.groups) == 0 && len(c.robots.Records()) == 0 && len(c.report.Findings) == 0
}

// addParserFindings adds the findings of package policy, with a column for each.
func (c *checker) addParserFindings() {
	findings, more := c.robots.Findings()
	c.report.UnlistedFindings += more
	for _, f := range findings {
		if f.Code == policy.GroupWithoutRule && c.emptyGroupAllowsSite(f.Line) {
			continue // Another check has a better message.
		}
		if f.Code == policy.UnknownKey && keyReadByGoogle(c.lineByNumber(f.Line).key) != "" {
			continue // Another check has a better message.
		}
		column := 0
		if f.Line > 0 {
			column = c.findingColumn(f)
		}
		c.report.Findings = append(c.report.Findings, Finding{Code: f.Code, Severity: f.Severity, Line: f.Line, Column: column, Message: f.Message})
	}
}

// findingColumn returns the column for a finding of package policy, which has only a line.
func (c *checker) findingColumn(f policy.Finding) int {
	l := c.lineByNumber(f.Line)
	switch f.Code {
	case policy.ContainsNUL:
		return columnAfterText(l.raw[:max(0, strings.IndexByte(l.raw, 0))])
	case policy.RuleWithoutSlash, policy.SeveralAgentNames, policy.WildcardInAgentName, policy.RepeatedGroup, policy.GroupWithoutRule:
		return l.valueColumn()
	case policy.DollarBeforeEnd:
		return columnAfterText(l.raw[:l.valueOffset+max(0, strings.IndexByte(l.value, '$'))])
	case policy.ByteOrderMark, policy.LineTooLong, policy.LineSplitByLimit:
		return 1
	}
	return l.keyColumn()
}

// quoteExcerpt returns at most 60 characters of s in quotes, for a message.
func quoteExcerpt(s string) string { return text.Quote(s, 60) }
