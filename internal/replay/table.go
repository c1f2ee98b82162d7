package replay

import (
	"fmt"
	"io"
	"strconv"
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

// Bounds of the table.
const (
	maxTableCrawlers = 30
	maxTableRules    = 10
	maxTablePaths    = 10
	maxTableLogs     = 20
	maxTablePathLen  = 80  // characters of a path or rule
	maxQuoted        = 100 // characters of a malformed line
)

// WriteText writes the report as tables for a terminal. Long lists are truncated. The writer keeps an
// error, as a [text.Screen] does.
func (r *Report) WriteText(w io.Writer) {
	t := reportWriter{w: w}
	t.writeLogs(r)
	t.printf("\n%s\n", r.Summary())
	if len(r.Crawlers) > 0 {
		t.printf("\n")
		t.beginTable("CRAWLER", "CLASS", "REQUESTS", "DISALLOWED", "STALE", "EXEMPT", "ROBOTS.TXT READ")
		for _, c := range r.Crawlers[:min(len(r.Crawlers), maxTableCrawlers)] {
			t.row(c.Token, c.Class, c.Requests, c.Disallowed, c.Stale, c.Exempt, c.LastFetch())
		}
		t.writeOmitted(len(r.Crawlers), maxTableCrawlers)

		t.printf("\n")
		t.beginTable("CLASS", "REQUESTS", "ENFORCE WOULD BLOCK")
		for _, c := range r.Classes {
			t.row(c.Class, c.Requests, c.WouldBlock)
		}
	}
	t.writeRates(r)
	t.writeResponses(r)
	if len(r.Rules) > 0 {
		t.printf("\n")
		t.beginTable("RULE", "LINE", "GROUP", "REQUESTS", "CRAWLERS")
		for _, rule := range r.Rules[:min(len(r.Rules), maxTableRules)] {
			t.row(rule.Rule, rule.Line, rule.Group, rule.Requests, listCrawlers(rule.Crawlers, 3))
		}
		t.writeOmitted(len(r.Rules), maxTableRules)
	}
	if len(r.Paths) > 0 {
		t.printf("\n")
		t.beginTable("PATH", "CRAWLER", "REQUESTS")
		for _, p := range r.Paths[:min(len(r.Paths), maxTablePaths)] {
			t.row(text.Abbreviate(text.Printable(p.Path), maxTablePathLen), p.Token, p.Count())
		}
		t.writeOmitted(len(r.Paths), maxTablePaths)
	}
	t.writeChallenge(r)
	t.printf("%s", footer(r.Examples, r.Notes, r.Incomplete))
}

// footer returns the lines below the tables.
func footer(examples []Example, notes []string, incomplete string) string {
	var b strings.Builder
	if len(examples) > 0 {
		b.WriteString("\nMalformed lines:\n")
		for _, e := range examples {
			fmt.Fprintf(&b, "%s:%d: %s: %s\n", text.Printable(e.Log), e.Line, e.Problem, text.Quote(e.Text, maxQuoted))
		}
	}
	if len(notes) > 0 || incomplete != "" {
		b.WriteByte('\n')
	}
	for _, note := range notes {
		b.WriteString(text.Printable(note) + "\n")
	}
	if incomplete != "" {
		b.WriteString("Some input was not read: " + text.Printable(incomplete) + "\n")
	}
	return b.String()
}

// Summary summarises the report.
func (r *Report) Summary() string {
	if r.Requests == 0 && r.Browsers > 0 && r.noUserAgents {
		return r.countsText() + ". No line has a User-Agent, so nothing was judged."
	}
	return r.countsText() + fmt.Sprintf(". %d are disallowed.", r.Disallowed)
}

// countsText returns the kinds of lines with their numbers.
func (r *Report) countsText() string {
	s := fmt.Sprintf("%d lines", r.Lines)
	if r.First != nil {
		s += fmt.Sprintf(" from %s to %s", formatTime(r.First), formatTime(r.Last))
	}
	s += fmt.Sprintf(": %d requests of robots and other programs, %d of browsers", r.Requests, r.Browsers)
	for _, part := range []struct {
		n    uint64
		text string
	}{
		{r.OtherSite, "of other sites"}, {r.OtherTime, "of other times"}, {r.Other, "without a request to judge"}, {r.Malformed, "malformed"},
	} {
		if part.n > 0 {
			s += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	return s
}

// LastFetch returns when the crawler last fetched the robots.txt.
func (c *CrawlerReport) LastFetch() string {
	switch {
	case c.RobotsRead != nil:
		return fmt.Sprintf("%s (%d)", formatTime(c.RobotsRead), c.RobotsStatus)
	case c.RobotsStatus != 0:
		return fmt.Sprintf("yes (%d)", c.RobotsStatus)
	}
	return "never"
}

// listCrawlers lists the crawlers with the most violations of a rule.
func listCrawlers(crawlers []RuleCrawlers, most int) string {
	var names []string
	for _, c := range crawlers[:min(len(crawlers), most)] {
		names = append(names, fmt.Sprintf("%s %d", c.Token, c.Requests))
	}
	if len(crawlers) > most {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// Count returns the number of requests for the path.
func (p *PathReport) Count() string { return formatCount(p.Requests, p.Excess) }

func formatCount(requests, excess uint64) string {
	if excess > 0 {
		return fmt.Sprintf("%d to %d", requests-excess, requests)
	}
	return strconv.FormatUint(requests, 10)
}
