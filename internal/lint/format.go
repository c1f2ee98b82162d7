package lint

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// FileReports has the reports about several files.
type FileReports struct {
	Files    []*Report `json:"files"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Infos    int       `json:"infos"`
	// ShowComparison makes WriteText print the comparison of crawlers for every file. Otherwise it
	// is printed only if a crawler deviates from RFC 9309.
	ShowComparison bool `json:"-"`
}

// Add adds the report about a file, and counts its findings.
func (f *FileReports) Add(r *Report) {
	f.Files = append(f.Files, r)
	f.Errors += r.SeverityCount(policy.Error)
	f.Warnings += r.SeverityCount(policy.Warning)
	f.Infos += r.SeverityCount(policy.Info)
}

// WriteText writes a line for each finding, and a table of the crawlers' interpretations, see
// ShowComparison. WriteText ignores errors of the writer, which a [text.Terminal] stores.
func (f *FileReports) WriteText(w io.Writer) {
	for i, r := range f.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		name := text.Printable(r.Name)
		for _, f := range r.Findings {
			at := name
			if f.Line > 0 {
				at = fmt.Sprintf("%s:%d:%d", name, f.Line, f.Column)
			}
			fmt.Fprintf(w, "%s: %s: %s [%s]\n", at, text.Colorize(w, f.Severity.String()), text.Printable(f.Message), f.Code)
		}
		if r.UnlistedFindings > 0 {
			fmt.Fprintf(w, "%s: %d more findings are not shown\n", name, r.UnlistedFindings)
		}
		if f.ShowComparison || r.Comparison.ConflictCount() > 0 {
			writeComparison(w, name, r.Comparison)
		}
		fmt.Fprintf(w, "%s: %s\n", name, formatSummary(r))
	}
}

// formatSummary returns the number of findings of each severity, for example "1 error, 2 warnings".
func formatSummary(r *Report) string {
	var parts []string
	for _, s := range []policy.Severity{policy.Error, policy.Warning, policy.Info} {
		if n := r.SeverityCount(s); n > 0 {
			word := s.String()
			if n > 1 && s != policy.Info {
				word += "s"
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// writeComparison writes a table with a column for each crawler: its group, and its verdicts on the
// example paths.
func writeComparison(w io.Writer, name string, r *CrawlerComparison) {
	fmt.Fprintf(w, "%s: how crawlers read this file\n", name)
	columns := []text.Column{{Kind: text.LongColumn}}
	for _, c := range r.Crawlers {
		columns = append(columns, text.Column{Title: c.Crawler, Kind: text.VerdictColumn})
	}
	table := text.NewTable(w, columns...)
	table.Indent = 2
	row := func(title string, of func(Interpretation) string) {
		cells := []string{title}
		for _, c := range r.Crawlers {
			cells = append(cells, of(c))
		}
		table.AddRow(cells...)
	}
	row("group", func(c Interpretation) string {
		if c.GroupLine == 0 {
			return "none"
		}
		return fmt.Sprintf("%s (line %d)", formatTableCell(c.Group), c.GroupLine)
	})
	row("rules", func(c Interpretation) string { return strconv.Itoa(c.RuleCount) })
	delays := false
	for _, c := range r.Crawlers {
		delays = delays || c.CrawlDelay != ""
	}
	if delays {
		row("crawl-delay", func(c Interpretation) string {
			if c.CrawlDelay == "" {
				return "none"
			}
			return formatTableCell(c.CrawlDelay)
		})
	}
	for _, p := range r.Paths {
		cells := []string{formatTableCell(p.Path)}
		for i, allowed := range p.Allowed {
			word := "disallowed"
			if allowed {
				word = "allowed"
			}
			if p.DecisiveLine[i] > 0 {
				word += fmt.Sprintf(" (%d)", p.DecisiveLine[i])
			}
			cells = append(cells, word)
		}
		table.AddRow(cells...)
	}
	table.Flush()
}

// formatTableCell returns at most 40 characters of s, with unprintable characters replaced.
func formatTableCell(s string) string { return text.Abbreviate(text.Printable(s), 40) }

// GitHub Actions require these escapes in messages and properties of workflow commands
// (actions/toolkit, packages/core/src/command.ts).
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// WriteGitHub writes each finding as a workflow command of GitHub Actions, which annotates a line
// of a pull request.
func (f *FileReports) WriteGitHub(w io.Writer) {
	words := map[policy.Severity]string{policy.Error: "error", policy.Warning: "warning", policy.Info: "notice"}
	for _, r := range f.Files {
		for _, f := range r.Findings {
			at := "file=" + githubProperty.Replace(r.Name)
			if f.Line > 0 {
				at += fmt.Sprintf(",line=%d,col=%d", f.Line, f.Column)
			}
			fmt.Fprintf(w, "::%s %s,title=%s::%s\n", words[f.Severity], at,
				githubProperty.Replace(string(f.Code)), githubData.Replace(f.Message))
		}
	}
}
