package dashboard

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// renderCSV returns a function that renders a view as CSV (RFC 4180) with a header row. rows returns
// all rows, with the header.
func renderCSV[T any](get viewFunc[T], rows func(*T) [][]string) func(Views, query) ([]byte, error) {
	return func(v Views, q query) ([]byte, error) {
		value, err := get(v, q)
		if err != nil {
			return nil, err
		}
		var body bytes.Buffer
		w := csv.NewWriter(&body)
		w.UseCRLF = true
		for _, row := range rows(value) {
			for i := range row {
				row[i] = escapeCell(row[i])
			}
			if err := w.Write(row); err != nil {
				return nil, err
			}
		}
		w.Flush()
		return body.Bytes(), w.Error()
	}
}

// escapeCell adds a leading apostrophe if a spreadsheet would treat the text as a formula. Clients
// choose paths and other texts (OWASP, "CSV Injection").
func escapeCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}

var countColumns = []string{"requests", "allowed", "disallowed", "stale", "exempt", "unknown", "blocked", "would_block", "slowed", "violations_blocked", "violations_only_logged"}

func formatCounts(c report.RequestCounts) []string {
	var cells []string
	for _, n := range []uint64{c.Requests, c.Allowed, c.Disallowed, c.Stale, c.Exempt, c.Unknown, c.Blocked, c.WouldBlock, c.Slowed, c.ViolationsBlocked, c.ViolationsOnlyLogged} {
		cells = append(cells, formatCount(n))
	}
	return cells
}

func formatCount(n uint64) string { return strconv.FormatUint(n, 10) }

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func formatPercent(p *float64) string {
	if p == nil {
		return ""
	}
	return strconv.FormatFloat(*p, 'f', 2, 64)
}

// makeRow returns a row. Each part is a cell or a list of cells.
func makeRow(parts ...any) []string {
	var cells []string
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			cells = append(cells, part)
		case []string:
			cells = append(cells, part...)
		}
	}
	return cells
}

func summaryRows(s *report.Summary) [][]string {
	rows := [][]string{makeRow("from", "seconds", countColumns)}
	for _, p := range s.Series.Points {
		rows = append(rows, makeRow(formatTime(p.At), strconv.Itoa(s.Series.StepSeconds), formatCounts(p.RequestCounts)))
	}
	return rows
}

func crawlerRows(l *report.Crawlers) [][]string {
	rows := [][]string{makeRow("id", "token", "operator", "class", countColumns, "compliance_percent",
		"verified", "claimed", "unknown_identity", "spoofed", "action", "first_seen", "last_seen", "violating_since",
		"read_site", "read_at", "read_status", "read_version", "requests_since_read", "per_minute", "crawl_delay_seconds")}
	for _, c := range l.Crawlers {
		read := report.RobotsFetch{}
		status := ""
		if c.RobotsFetch != nil {
			read, status = *c.RobotsFetch, strconv.Itoa(c.RobotsFetch.Status)
		}
		rows = append(rows, makeRow(c.ID, c.Token, c.Operator, c.Class, formatCounts(c.RequestCounts), formatPercent(c.Compliance),
			formatCount(c.Identities.Verified), formatCount(c.Identities.Claimed), formatCount(c.Identities.Unknown), formatCount(c.Identities.Spoofed),
			c.Action, formatTime(c.FirstSeen), formatTime(c.LastSeen), formatTime(c.ViolatingSince), read.Site, formatTime(read.At), status, read.Version, formatCount(c.RequestsSinceFetch),
			strconv.FormatFloat(c.Rate.PerMinute, 'f', -1, 64), strconv.FormatFloat(c.Rate.CrawlDelay, 'f', -1, 64)))
	}
	return rows
}

func violationRows(l *report.Violations) [][]string { return formatViolations(l.Violations) }

func pathRows(c *report.CrawlerDetail) [][]string { return formatViolations(c.Paths) }

func formatViolations(l []report.Violation) [][]string {
	rows := [][]string{{"site", "token", "class", "identity", "path", "rule", "line", "group", "version", "verdict",
		"count", "count_at_least", "first", "last", "host", "name", "blocked"}}
	for _, v := range l {
		rows = append(rows, []string{v.Site, v.Token, v.Class, v.Identity, v.Path, v.Rule, strconv.Itoa(v.Line), v.Group, v.Version,
			v.Verdict, formatCount(v.Count), formatCount(v.Count - min(v.Error, v.Count)), formatTime(v.First), formatTime(v.Last), v.Host, v.Name, formatCount(v.BlockedAtMost)})
	}
	return rows
}

func lineRows(r *report.Robots) [][]string {
	rows := [][]string{{"line", "text", "kind", "requests", "never_hit", "findings"}}
	for _, l := range r.Lines {
		var findings []string
		for _, f := range l.Findings {
			findings = append(findings, fmt.Sprintf("%s %s: %s", f.Severity, f.Code, f.Message))
		}
		rows = append(rows, []string{strconv.Itoa(l.Line), l.Text, string(l.Kind), formatCount(l.Hits), strconv.FormatBool(l.NeverHit),
			strings.Join(findings, "; ")})
	}
	return rows
}

func impactRows(i *report.EnforceImpact) [][]string {
	rows := [][]string{makeRow("class", "id", "token", "operator", countColumns, "blockable")}
	for _, class := range i.ByClass {
		for _, c := range class.Crawlers {
			rows = append(rows, makeRow(class.Class, c.ID, c.Token, c.Operator, formatCounts(c.RequestCounts), formatCount(c.BlockedByEnforce)))
		}
	}
	return rows
}

func auditRows(p *report.ResponseAudit) [][]string {
	rows := [][]string{{"token", "operator", "class", "identity", "kind", "2xx", "3xx", "refused", "not_found", "too_many", "4xx", "5xx", "bytes"}}
	for _, c := range p.Crawlers {
		for i, a := range []responseaudit.StatusCounts{c.Allowed, c.Forbidden, c.Unruled, c.RobotsTxt} {
			bytes := ""
			if i == 0 {
				bytes = formatCount(c.Bytes) // Only the first row has the bytes of all kinds.
			}
			rows = append(rows, []string{c.Token, c.Operator, c.Class, c.Identity, responseaudit.RequestKind(i).String(),
				formatCount(a.Success), formatCount(a.Redirect), formatCount(a.Refused), formatCount(a.NotFound), formatCount(a.TooMany), formatCount(a.ClientError), formatCount(a.ServerError), bytes})
		}
	}
	return rows
}

func shadowRows(s *report.ShadowTrials) [][]string {
	rows := [][]string{{"site", "token", "operator", "class", "identity", "difference", "host", "path", "count", "count_at_least", "first", "last",
		"was_rule", "was_line", "was_group", "would_rule", "would_line", "would_group", "from", "since"}}
	for _, t := range s.Trials {
		for _, c := range t.Crawlers {
			for _, p := range c.Pages {
				rows = append(rows, []string{t.Site, c.Token, c.Operator, c.Class, c.Identity, p.Difference, p.Host, p.Path,
					formatCount(p.Count), formatCount(p.Count - min(p.Error, p.Count)), formatTime(p.First), formatTime(p.Last),
					p.RuleInForce.Rule, strconv.Itoa(p.RuleInForce.Line), p.RuleInForce.Group, p.RuleOnTrial.Rule, strconv.Itoa(p.RuleOnTrial.Line), p.RuleOnTrial.Group, t.Source, formatTime(t.Since)})
			}
		}
	}
	return rows
}
