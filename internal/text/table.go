package text

import (
	"io"
	"strings"
)

// ColumnKind says what stands in a column of a table.
type ColumnKind uint8

const (
	NameColumn    ColumnKind = iota // a name, a number: never broken, never cut
	ListColumn                      // names with commas between them: broken behind a comma
	ProseColumn                     // broken between words
	LongColumn                      // a path, a rule: cut
	VerdictColumn                   // as NameColumn; its first word is coloured, see [Colorize]
)

// splitCell returns the pieces of a cell that are never broken, with what stands
// between them.
func (k ColumnKind) splitCell(cell string) (words []string, between string) {
	switch k {
	case ListColumn:
		return strings.Split(cell, ", "), ", "
	case ProseColumn:
		return strings.Fields(cell), " "
	}
	return []string{cell}, ""
}

// Column is a column of a table.
type Column struct {
	Title string
	Kind  ColumnKind
}

// Table lays out rows in columns. On a [Terminal] it becomes as narrow as that is:
// by breaking and cutting cells as their kind allows, and where that is not
// enough by a line for each cell.
type Table struct {
	Indent  int // columns before each row
	w       io.Writer
	columns []Column
	rows    [][]string
}

// NewTable returns a table that Flush writes to w.
func NewTable(w io.Writer, columns ...Column) *Table {
	t := &Table{w: w, columns: columns}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.Title
	}
	t.rows = append(t.rows, titles)
	return t
}

// AddRow adds a row, of as many cells as there are columns. They have to be
// printable.
func (t *Table) AddRow(cells ...string) { t.rows = append(t.rows, cells) }

// gap separates columns.
const gap = "  "

// Flush writes the table. The writer keeps an error, as a [Screen] does.
func (t *Table) Flush() {
	widths := make([]int, len(t.columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	var b strings.Builder
	if s, ok := t.w.(*Terminal); ok && s.width > 0 && !t.shrinkColumns(widths, s.width) {
		t.writeStacked(&b, s.width)
	} else {
		for _, row := range t.rows {
			t.writeRow(&b, row, widths)
		}
	}
	_, _ = io.WriteString(t.w, b.String())
}

// minLongWidth is how narrow a LongColumn may become.
const minLongWidth = 16

// shrinkColumns makes the widest columns narrower until the table fits, and reports
// whether it does.
func (t *Table) shrinkColumns(widths []int, width int) bool {
	minWidths := make([]int, len(widths))
	for _, row := range t.rows {
		for i, cell := range row {
			words, between := t.columns[i].Kind.splitCell(cell)
			for _, word := range words {
				minWidths[i] = max(minWidths[i], displayWidth(word+strings.TrimSpace(between)))
			}
		}
	}
	total := t.Indent + len(gap)*(len(widths)-1)
	for i, w := range widths {
		total += w
		if t.columns[i].Kind == LongColumn {
			minWidths[i] = min(minWidths[i], minLongWidth)
		}
	}
	for total > width {
		widest := -1
		for i, w := range widths {
			if w > minWidths[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
		total--
	}
	return true
}

// writeRow writes a row, in as many lines as its cells take.
func (t *Table) writeRow(b *strings.Builder, row []string, widths []int) {
	cells := make([][]string, len(row))
	lines := 1
	for i, cell := range row {
		cells[i] = wrapCell(cell, t.columns[i].Kind, widths[i])
		lines = max(lines, len(cells[i]))
	}
	for n := range lines {
		line, padding := strings.Repeat(" ", t.Indent), ""
		for i, cell := range cells {
			piece := ""
			if n < len(cell) {
				piece = cell[n]
			}
			line += padding + t.colorize(i, piece)
			padding = strings.Repeat(" ", widths[i]-displayWidth(piece)) + gap
		}
		if lines > 1 {
			line = strings.TrimRight(line, " ")
		}
		b.WriteString(line + "\n")
	}
}

// wrapCell breaks a cell into pieces that are at most so wide, and cuts a
// LongColumn.
func wrapCell(cell string, kind ColumnKind, width int) []string {
	if displayWidth(cell) <= width {
		return []string{cell}
	}
	var pieces []string
	words, between := kind.splitCell(cell)
	for n, word := range words {
		if n < len(words)-1 {
			word += strings.TrimSpace(between)
		}
		if kind == LongColumn {
			word = Abbreviate(word, width)
		}
		if last := len(pieces) - 1; last >= 0 && displayWidth(pieces[last])+1+displayWidth(word) <= width {
			pieces[last] += " " + word
		} else {
			pieces = append(pieces, word)
		}
	}
	return pieces
}

// colorize colours the first word of a cell.
func (t *Table) colorize(column int, cell string) string {
	if t.columns[column].Kind != VerdictColumn {
		return cell
	}
	word, rest, more := strings.Cut(cell, " ")
	if word = Colorize(t.w, word); more {
		word += " "
	}
	return word + rest
}

// writeStacked writes a line for each cell, and an empty one between rows.
func (t *Table) writeStacked(b *strings.Builder, width int) {
	widest := 0
	for _, title := range t.rows[0] {
		widest = max(widest, displayWidth(title))
	}
	margin := "\n" + strings.Repeat(" ", t.Indent+widest) + gap
	for n, row := range t.rows[1:] {
		if n > 0 {
			b.WriteByte('\n')
		}
		for i, cell := range row {
			title := t.rows[0][i]
			pieces := []string{t.colorize(i, cell)}
			if kind := t.columns[i].Kind; kind == ListColumn || kind == ProseColumn {
				pieces = wrapCell(cell, kind, max(minLongWidth, width-len(margin)+1))
			}
			line := strings.Repeat(" ", t.Indent) + title + strings.Repeat(" ", widest-displayWidth(title)) + gap + strings.Join(pieces, margin)
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}
