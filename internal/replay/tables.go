package replay

import (
	"fmt"
	"io"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// tables writes the tables and sentences of a report. The first error is stored, and later writes
// do nothing.
type tables struct {
	w    io.Writer
	open *text.Table // the open table
	err  error
}

// columnKinds has the kinds of columns that are neither names nor numbers.
var columnKinds = map[string]text.Kind{
	"LOG": text.Long, "RULE": text.Long, "PATH": text.Long,
	"CRAWLERS": text.List, "FORMAT": text.List, "ROBOTS.TXT READ": text.Prose,
}

// table begins a table.
func (t *tables) table(titles ...string) {
	t.end()
	var columns []text.Column
	for _, title := range titles {
		columns = append(columns, text.Column{Title: title, Kind: columnKinds[title]})
	}
	t.open = text.NewTable(t.w, columns...)
}

// row adds a row to the table.
func (t *tables) row(values ...any) {
	var cells []string
	for _, v := range values {
		cells = append(cells, text.Printable(fmt.Sprint(v)))
	}
	t.open.Row(cells...)
}

// end ends a table.
func (t *tables) end() {
	if t.open != nil && t.err == nil {
		t.err = t.open.Flush()
	}
	t.open = nil
}

// more writes how many rows the table leaves out.
func (t *tables) more(have, shown int) {
	if have > shown {
		t.printf("and %d more; see --json\n", have-shown)
	}
}

// printf writes a sentence outside the tables.
func (t *tables) printf(format string, args ...any) {
	t.end()
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// logs writes the table of the logs.
func (t *tables) logs(r *Report) {
	t.table("LOG", "FORMAT", "LINES", "MALFORMED")
	for _, l := range r.Logs[:min(len(r.Logs), tableLogs)] {
		format := l.Format
		if l.Compression != "" {
			format += ", " + l.Compression
		}
		if format == "" {
			format = "-"
		}
		t.row(l.Name, format, l.Lines, l.Malformed)
	}
	t.more(len(r.Logs), tableLogs)
}
