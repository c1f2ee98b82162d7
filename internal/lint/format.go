package lint

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Formats returns the names of the output formats.
func Formats() []string { return []string{"text", "json", "github"} }

// Write prints reports in a format of [Formats].
func Write(w io.Writer, format string, reports []*Report) error {
	switch format {
	case "text":
		return writeText(w, reports, false)
	case "json":
		return writeJSON(w, reports)
	case "github":
		return writeGitHub(w, reports)
	}
	return fmt.Errorf("unknown format %q; there are %s", format, strings.Join(Formats(), ", "))
}

// WriteReadings prints reports as text. Unlike Write, it always prints the table of crawlers, even
// if all crawlers agree.
func WriteReadings(w io.Writer, reports []*Report) error { return writeText(w, reports, true) }

// writeText prints a line for each finding, and the table of crawlers if they disagree.
func writeText(w io.Writer, reports []*Report, readings bool) error {
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(w)
		}
		name := text.Printable(r.Name)
		for _, f := range r.Findings {
			at := name
			if f.Line > 0 {
				at = fmt.Sprintf("%s:%d:%d", name, f.Line, f.Column)
			}
			fmt.Fprintf(w, "%s: %s: %s [%s]\n", at, text.Paint(w, f.Severity.String()), text.Printable(f.Message), f.Code)
		}
		if r.Unreported > 0 {
			fmt.Fprintf(w, "%s: %d more findings are not shown\n", name, r.Unreported)
		}
		if readings || r.Readings.Conflicts() > 0 {
			if err := writeReadings(w, name, &r.Readings); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", name, summary(r)); err != nil {
			return err
		}
	}
	return nil
}

// summary formats the number of findings.
func summary(r *Report) string {
	var parts []string
	for _, s := range []policy.Severity{policy.Error, policy.Warning, policy.Info} {
		if n := r.Count(s); n > 0 {
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

// writeReadings prints the table of crawlers.
func writeReadings(w io.Writer, name string, r *Readings) error {
	fmt.Fprintf(w, "%s: how crawlers read it\n", name)
	columns := []text.Column{{Kind: text.Long}}
	for _, c := range r.Crawlers {
		columns = append(columns, text.Column{Title: c.Crawler, Kind: text.Verdict})
	}
	table := text.NewTable(w, columns...)
	table.Indent = 2
	row := func(title string, of func(Reading) string) {
		cells := []string{title}
		for _, c := range r.Crawlers {
			cells = append(cells, of(c))
		}
		table.Row(cells...)
	}
	row("group", func(c Reading) string {
		if c.GroupLine == 0 {
			return "none"
		}
		return fmt.Sprintf("%s (line %d)", cell(c.Group), c.GroupLine)
	})
	row("rules", func(c Reading) string { return strconv.Itoa(c.Rules) })
	delays := false
	for _, c := range r.Crawlers {
		delays = delays || c.CrawlDelay != ""
	}
	if delays {
		row("crawl-delay", func(c Reading) string {
			if c.CrawlDelay == "" {
				return "none"
			}
			return cell(c.CrawlDelay)
		})
	}
	for _, p := range r.Paths {
		cells := []string{cell(p.Path)}
		for i, allowed := range p.Allowed {
			word := "disallowed"
			if allowed {
				word = "allowed"
			}
			if p.Line[i] > 0 {
				word += fmt.Sprintf(" (%d)", p.Line[i])
			}
			cells = append(cells, word)
		}
		table.Row(cells...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, c := range r.Crawlers {
		for _, note := range c.Notes {
			fmt.Fprintf(w, "  %s: %s\n", c.Crawler, note)
		}
	}
	return nil
}

// cell escapes and shortens a part of the file for a table.
func cell(s string) string { return text.Short(text.Printable(s), 40) }
