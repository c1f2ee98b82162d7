package replay

import (
	"fmt"
	"io"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// reportWriter writes the tables and sentences of a report.
type reportWriter struct {
	w    io.Writer
	open *text.Table // the open table
}

// columnKinds has the kinds of columns that are neither names nor numbers.
var columnKinds = map[string]text.ColumnKind{
	"LOG": text.LongColumn, "RULE": text.LongColumn, "PATH": text.LongColumn,
	"CRAWLERS": text.ListColumn, "FORMAT": text.ListColumn, "ROBOTS.TXT READ": text.ProseColumn,
}

// beginTable begins a table.
func (t *reportWriter) beginTable(titles ...string) {
	t.endTable()
	var columns []text.Column
	for _, title := range titles {
		columns = append(columns, text.Column{Title: title, Kind: columnKinds[title]})
	}
	t.open = text.NewTable(t.w, columns...)
}

// row adds a row to the table.
func (t *reportWriter) row(values ...any) {
	var cells []string
	for _, v := range values {
		cells = append(cells, text.Printable(fmt.Sprint(v)))
	}
	t.open.AddRow(cells...)
}

// endTable ends a table.
func (t *reportWriter) endTable() {
	if t.open != nil {
		t.open.Flush()
	}
	t.open = nil
}

// writeOmitted writes how many rows the table leaves out.
func (t *reportWriter) writeOmitted(have, shown int) {
	if have > shown {
		t.printf("and %d more; see --json\n", have-shown)
	}
}

// printf writes a sentence outside the tables.
func (t *reportWriter) printf(format string, args ...any) {
	t.endTable()
	fmt.Fprintf(t.w, format, args...)
}

// writeLogs writes the table of the logs.
func (t *reportWriter) writeLogs(r *Report) {
	t.beginTable("LOG", "FORMAT", "LINES", "MALFORMED")
	for _, l := range r.Logs[:min(len(r.Logs), maxTableLogs)] {
		format := l.Format
		if l.Compression != "" {
			format += ", " + l.Compression
		}
		if format == "" {
			format = "-"
		}
		t.row(l.Name, format, l.Lines, l.Malformed)
	}
	t.writeOmitted(len(r.Logs), maxTableLogs)
}
