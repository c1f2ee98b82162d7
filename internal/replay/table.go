package replay

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

func formatTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

// These are bounds of the table.
const (
	maxTableCrawlers = 30
	maxTableRules    = 10
	maxTablePaths    = 10
	maxTableLogs     = 20
	maxTablePathLen  = 80  // maxTablePathLen is the maximum number of characters of a path.
	maxQuoted        = 100 // maxQuoted is the maximum number of characters of a malformed line.
)

// WriteText writes the report as tables for people, with at most 30 rows each. WriteText ignores
// errors of the writer, which a [text.Terminal] stores.
func (r *Report) WriteText(w io.Writer) {
	writeTable(w, "", []string{"LOG", "FORMAT", "LINES", "MALFORMED"}, r.Logs, maxTableLogs, func(l *LogReport) []any {
		format := cmp.Or(l.Format, "-")
		if l.Compression != "" {
			format += ", " + l.Compression
		}
		return []any{l.Name, format, l.Lines, l.Malformed}
	})
	fmt.Fprintf(w, "\n%s\n", r.Summary())
	writeTable(w, "\n", []string{"CRAWLER", "CLASS", "REQUESTS", "DISALLOWED", "STALE", "EXEMPT", "ROBOTS.TXT READ"}, r.Crawlers, maxTableCrawlers, func(c CrawlerReport) []any {
		return []any{c.Token, c.Class, c.Requests, c.Disallowed, c.Stale, c.Exempt, c.FormatLastFetch()}
	})
	writeTable(w, "\n", []string{"CLASS", "REQUESTS", "ENFORCE WOULD BLOCK"}, r.Classes, len(r.Classes), func(c ClassReport) []any {
		return []any{c.Class, c.Requests, c.WouldBlock}
	})
	r.writeRates(w)
	if len(r.Findings) > 0 {
		fmt.Fprintf(w, "\nAnswers that contradict the robots.txt:\n")
		for _, f := range r.Findings[:min(len(r.Findings), maxTableRules)] {
			fmt.Fprintf(w, "%s\n", text.Printable(f.Text))
		}
		writeOmitted(w, len(r.Findings), maxTableRules)
	}
	writeTable(w, "\n", []string{"RULE", "LINE", "GROUP", "REQUESTS", "CRAWLERS"}, r.Rules, maxTableRules, func(rule RuleReport) []any {
		return []any{rule.Rule, rule.Line, rule.Group, rule.Requests, formatCrawlers(rule.Crawlers, 3)}
	})
	writeTable(w, "\n", []string{"PATH", "CRAWLER", "REQUESTS"}, r.Paths, maxTablePaths, func(p PathReport) []any {
		count := fmt.Sprint(p.Requests)
		if p.CountError > 0 {
			count = fmt.Sprintf("%d to %d", p.Requests-p.CountError, p.Requests)
		}
		return []any{text.Abbreviate(text.Printable(p.Path), maxTablePathLen), p.Token, count}
	})
	if r.Challenge != nil {
		fmt.Fprintf(w, "\n%s\n", strings.Join(r.Challenge.Describe(), "\n"))
	}
	if len(r.Examples) > 0 {
		fmt.Fprintf(w, "\nMalformed lines:\n")
	}
	for _, e := range r.Examples {
		fmt.Fprintf(w, "%s:%d: %s: %s\n", text.Printable(e.Log), e.Line, e.Problem, text.Quote(e.Text, maxQuoted))
	}
	notes := slices.Clone(r.Notes)
	if r.Incomplete != "" {
		notes = append(notes, "Some logs were not read: "+r.Incomplete)
	}
	if len(notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, note := range notes {
		fmt.Fprintf(w, "%s\n", text.Printable(note))
	}
}

// columnKinds has the kind of each column, by its title. Columns that are missing here contain
// names or numbers.
var columnKinds = map[string]text.ColumnKind{
	"LOG": text.LongColumn, "RULE": text.LongColumn, "PATH": text.LongColumn,
	"CRAWLERS": text.ListColumn, "FORMAT": text.ListColumn, "ROBOTS.TXT READ": text.ProseColumn,
}

// writeTable writes a heading and a table with a row for each of the first maxRows elements of
// list. It writes nothing if list is empty.
func writeTable[T any](w io.Writer, heading string, titles []string, list []T, maxRows int, cells func(T) []any) {
	if len(list) == 0 {
		return
	}
	fmt.Fprint(w, heading)
	var columns []text.Column
	for _, title := range titles {
		columns = append(columns, text.Column{Title: title, Kind: columnKinds[title]})
	}
	table := text.NewTable(w, columns...)
	for _, row := range list[:min(len(list), maxRows)] {
		var texts []string
		for _, cell := range cells(row) {
			texts = append(texts, text.Printable(fmt.Sprint(cell)))
		}
		table.AddRow(texts...)
	}
	table.Flush()
	writeOmitted(w, len(list), maxRows)
}

// writeOmitted writes how many rows of a table are omitted, if any.
func writeOmitted(w io.Writer, all, shown int) {
	if all > shown {
		fmt.Fprintf(w, "and %d more; see --json\n", all-shown)
	}
}

// Summary returns a sentence with the number of requests and of violations.
func (r *Report) Summary() string {
	if r.Requests == 0 && r.Browsers > 0 && r.noUserAgents {
		return r.formatCounts() + ". No line has a User-Agent, so nothing was judged."
	}
	return r.formatCounts() + fmt.Sprintf(". %d are disallowed.", r.Disallowed)
}

// formatCounts returns the number of lines of each kind, and the time of the first and the last
// request.
func (r *Report) formatCounts() string {
	s := fmt.Sprintf("%d lines", r.Lines)
	if r.First != nil {
		s += fmt.Sprintf(" from %s to %s", formatTime(r.First), formatTime(r.Last))
	}
	s += fmt.Sprintf(": %d requests of robots and other programs, %d of browsers", r.Requests, r.Browsers)
	for _, part := range []struct {
		n    uint64
		text string
	}{
		{r.OtherSiteLines, "of other sites"}, {r.OtherTimeLines, "of other times"}, {r.OtherLines, "without a request to judge"}, {r.Malformed, "malformed"},
	} {
		if part.n > 0 {
			s += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	return s
}

// FormatLastFetch returns the time and the status of the crawler's last fetch of the robots.txt, or
// "never".
func (c *CrawlerReport) FormatLastFetch() string {
	switch {
	case c.LastRobotsFetch != nil:
		return fmt.Sprintf("%s (%d)", formatTime(c.LastRobotsFetch), c.RobotsStatus)
	case c.RobotsStatus != 0:
		return fmt.Sprintf("yes (%d)", c.RobotsStatus)
	}
	return "never"
}

// formatCrawlers returns the crawlers that violated a rule, each with its number of requests.
// Beyond the limit it returns "..." instead.
func formatCrawlers(crawlers []RuleCrawlers, limit int) string {
	var names []string
	for _, c := range crawlers[:min(len(crawlers), limit)] {
		names = append(names, fmt.Sprintf("%s %d", c.Token, c.Requests))
	}
	if len(crawlers) > limit {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}
