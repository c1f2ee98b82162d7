package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Finding is something in a file that its owner should know.
type Finding struct {
	Code     policy.Code
	Severity policy.Severity
	Line     int    // counted from 1; 0 where the finding is about the whole file
	Column   int    // of the first character, counted from 1 in Unicode code points; 0 with Line 0
	Message  string // what was found and what to do
}

// Report is what was found in one file.
type Report struct {
	Name       string // as the file was called
	Findings   []Finding
	Unreported int // findings beyond those that are kept
	Readings   Readings
}

// Count returns how many findings have the severity.
func (r *Report) Count(s policy.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// has reports whether there is a finding of a kind.
func (r *Report) has(code policy.Code) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == code })
}

// Total returns how many findings there are, those that are not kept included.
func (r *Report) Total() int { return len(r.Findings) + r.Unreported }

// Worst returns the highest severity among the findings; ok is false if there
// are none.
func (r *Report) Worst() (worst policy.Severity, ok bool) {
	for _, f := range r.Findings {
		worst, ok = max(worst, f.Severity), true
	}
	return worst, ok || r.Unreported > 0
}

// Options say what is known about a file beside its text.
type Options struct {
	// Site is the scheme and host that the file is for, such as
	// https://example.com; "" if that is not known.
	Site string
	// Pages is how many pages the site has, 0 if that is not known.
	Pages int
}

// Check looks at a robots.txt. Of a file longer than [policy.MaxSize] at least
// one byte more than that should be given. It accepts any bytes and takes time
// about linear in them.
func Check(name string, body []byte, options Options) *Report {
	report := Look(policy.Parse(body), options)
	report.Name = name
	report.Readings = readAll(body)
	return report
}

// Look is Check for a text that was read already. It does not compare how
// different crawlers read it.
func Look(robots *policy.Robots, options Options) *Report {
	c := checker{robots: robots, options: options, report: new(Report), room: maxCompared}
	c.lines = readLines(c.robots.Text())
	c.groups = c.robots.Groups()
	c.takeParsed()
	if c.lines.len() > 0 && !c.found(policy.HTML) {
		c.checkLines()
		c.checkKeys()
		c.checkNames()
		c.checkGroups()
		c.checkRules()
		c.checkRecords()
		c.checkPreferences()
		c.takeTallies()
	}
	if c.isEmpty() {
		c.add(EmptyFile, 0, 0, "the file has no rules, so everything is allowed; if that is intended, write \"User-agent: *\" and an empty Disallow line")
	}
	c.report.sort()
	return c.report
}

// sort puts findings in the order of the file.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// maxFindings bounds what is kept of a file that is wrong in every line.
const maxFindings = 500

// checker is the state of one Check.
type checker struct {
	robots  *policy.Robots
	lines   lines
	groups  []policy.Group
	options Options
	report  *Report
	tallies []*tally
	opening map[int]bool     // see opensSite
	room    int              // see compare
	delayed map[int]*delayed // see delayedBy
}

// add keeps a finding unless there are too many.
func (c *checker) add(code policy.Code, line, column int, format string, args ...any) {
	if len(c.report.Findings) >= maxFindings {
		c.report.Unreported++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{
		Code: code, Severity: severityOf(code), Line: line, Column: column, Message: fmt.Sprintf(format, args...),
	})
}

// tally is a finding that is told once in a file, where it first arises.
type tally struct {
	Finding
	lines []int // of the others, the first few
	more  int
}

// addOnce is addValue for what would be tedious to read for each line.
func (c *checker) addOnce(code policy.Code, line int, format string, args ...any) {
	for _, t := range c.tallies {
		switch {
		case t.Code != code:
		case len(t.lines) < 5:
			t.lines = append(t.lines, line)
			return
		default:
			t.more++
			return
		}
	}
	c.tallies = append(c.tallies, &tally{Finding: Finding{Code: code, Line: line, Message: fmt.Sprintf(format, args...)}})
}

// takeTallies reports what addOnce has collected.
func (c *checker) takeTallies() {
	for _, t := range c.tallies {
		if len(t.lines) > 0 {
			slices.Sort(t.lines)
			words := strings.Trim(fmt.Sprint(t.lines), "[]")
			in := " (likewise in line "
			if len(t.lines) > 1 {
				in = " (likewise in lines "
			}
			t.Message += in + strings.ReplaceAll(words, " ", ", ")
			if t.more > 0 {
				t.Message += fmt.Sprintf(" and %d more", t.more)
			}
			t.Message += ")"
		}
		c.addValue(t.Code, t.Line, "%s", t.Message)
	}
}

// addValue is add for the value of a line.
func (c *checker) addValue(code policy.Code, line int, format string, args ...any) {
	c.add(code, line, c.at(line).valueColumn(), format, args...)
}

// at returns the line of the given number, an empty one if there is none.
func (c *checker) at(number int) line {
	if number < 1 || number > c.lines.len() {
		return line{}
	}
	return c.lines.at(number - 1)
}

func (c *checker) found(code policy.Code) bool { return c.report.has(code) }

// isEmpty reports whether the file has neither a group nor a record, and
// nothing was found that tells why.
func (c *checker) isEmpty() bool {
	return len(c.groups) == 0 && len(c.robots.Records()) == 0 && len(c.report.Findings) == 0
}

// takeParsed takes over what the parser noticed and finds the columns.
func (c *checker) takeParsed() {
	findings, more := c.robots.Findings()
	c.report.Unreported += more
	for _, f := range findings {
		if f.Code == policy.GroupWithoutRule && c.opensSite(f.Line) {
			continue // there is more to say about it
		}
		if f.Code == policy.UnknownKey && isPrefixKey(c.at(f.Line).key) {
			continue // likewise
		}
		column := 0
		if f.Line > 0 {
			column = c.columnOf(f)
		}
		c.report.Findings = append(c.report.Findings, Finding{f.Code, f.Severity, f.Line, column, f.Message})
	}
}

// columnOf returns where in its line a finding of the parser begins.
func (c *checker) columnOf(f policy.Finding) int {
	l := c.at(f.Line)
	switch f.Code {
	case policy.NotText:
		return columns(l.raw[:max(0, strings.IndexByte(l.raw, 0))])
	case policy.RuleWithoutSlash, policy.NameList, policy.NamePattern, policy.RepeatedGroup, policy.GroupWithoutRule:
		return l.valueColumn()
	case policy.DollarInside:
		return columns(l.raw[:l.valueAt+max(0, strings.IndexByte(l.value, '$'))])
	case policy.ByteOrderMark, policy.LineTooLong, policy.LineCut:
		return 1
	}
	return l.keyColumn()
}

// quoted bounds a piece of the file for use in a message.
func quoted(s string) string { return text.Quote(s, 60) }
