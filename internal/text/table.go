package text

import (
	"io"
	"strings"
)

// ColumnKind defines how the cells of a column are shortened.
type ColumnKind uint8

const (
	NameColumn    ColumnKind = iota // a name or number, never broken or cut
	ListColumn                      // names separated by commas, broken after a comma
	ProseColumn                     // broken between words
	LongColumn                      // a path or rule, cut
	VerdictColumn                   // like NameColumn, with the first word in color, see [Colorize]
)

// splitCell returns the unbreakable pieces of a cell and their separator.
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

// Table writes rows in columns. On a [Terminal] with a maximum width, Table breaks and cuts cells
// by the kind of their column. If the table is still too wide, each cell gets a line of its own.
type Table struct {
	Indent  int // columns before each row
	w       io.Writer
	columns []Column
	rows    [][]string
}

// NewTable returns a table. [Table.Flush] writes the table to w.
func NewTable(w io.Writer, columns ...Column) *Table {
	t := &Table{w: w, columns: columns}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.Title
	}
	t.rows = append(t.rows, titles)
	return t
}

// AddRow adds a row with a cell for each column. The cells must be printable.
func (t *Table) AddRow(cells ...string) { t.rows = append(t.rows, cells) }

// gap separates columns.
const gap = "  "

// Flush writes the table. Flush ignores write errors, because w reports them later, as [Terminal]
// does.
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

// minLongWidth is the minimum width of a LongColumn.
const minLongWidth = 16

// shrinkColumns narrows the widest columns until the table fits. shrinkColumns reports whether the
// table fits.
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

// writeRow writes a row, in several lines if a cell was broken.
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

// wrapCell breaks a cell into pieces of at most width columns. The cell of a LongColumn is
// truncated.
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

// colorize colors the first word of a cell in a VerdictColumn.
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

// writeStacked writes a line for each cell and an empty line between rows.
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
