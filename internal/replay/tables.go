package replay

import (
	"fmt"
	"io"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// tables writes the tables and sentences of a report. The first error is stored, and later writes
// do nothing.
type tables struct {
	w   io.Writer
	now *text.Table // the open table
	err error
}

// kinds has the kinds of columns that are neither names nor numbers.
var kinds = map[string]text.Kind{
	"LOG": text.Long, "RULE": text.Long, "PATH": text.Long,
	"CRAWLERS": text.List, "FORMAT": text.List, "ROBOTS.TXT READ": text.Prose,
}

// table begins a table.
func (t *tables) table(titles ...string) {
	t.end()
	var columns []text.Column
	for _, title := range titles {
		columns = append(columns, text.Column{Title: title, Kind: kinds[title]})
	}
	t.now = text.NewTable(t.w, columns...)
}

// row adds a row to the table.
func (t *tables) row(values ...any) {
	var cells []string
	for _, v := range values {
		cells = append(cells, text.Printable(fmt.Sprint(v)))
	}
	t.now.Row(cells...)
}

// end ends a table.
func (t *tables) end() {
	if t.now != nil && t.err == nil {
		t.err = t.now.Flush()
	}
	t.now = nil
}

// more writes how many rows the table leaves out.
func (t *tables) more(have, shown int) {
	if have > shown {
		t.say("and %d more; see --json\n", have-shown)
	}
}

// say writes a sentence outside the tables.
func (t *tables) say(format string, args ...any) {
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
