package text

import (
	"io"
	"strings"
)

// ColumnKind tells how the cells of a column are broken or cut if the table is too wide.
type ColumnKind uint8

const (
	NameColumn    ColumnKind = iota // NameColumn has a name or a number, which is never broken or cut.
	ListColumn                      // ListColumn has names separated by commas. It is broken after a comma.
	ProseColumn                     // ProseColumn is broken between words.
	LongColumn                      // LongColumn has a path or rule, which is cut.
	VerdictColumn                   // VerdictColumn is like NameColumn, with the first word in color. See [Colorize].
)

// splitCell splits a cell into the pieces that are never broken, and returns the separator between
// them.
func (k ColumnKind) splitCell(cell string) (words []string, between string) {
	switch k {
	case ListColumn:
		return strings.Split(cell, ", "), ", "
	case ProseColumn:
		return strings.Fields(cell), " "
	}
	return []string{cell}, ""
}

// Column is the title of a table's column and the kind of its cells.
type Column struct {
	Title string
	Kind  ColumnKind
}

// Table collects rows and writes them in columns. If the table is too wide for a [Terminal], cells
// are broken or cut according to the kind of their column. If the table is still too wide, each
// cell gets a line of its own.
type Table struct {
	Indent  int // Indent is the number of columns before each row.
	w       io.Writer
	columns []Column
	rows    [][]string
}

// NewTable returns a table with these columns. [Table.Flush] writes the table to w.
func NewTable(w io.Writer, columns ...Column) *Table {
	t := &Table{w: w, columns: columns}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.Title
	}
	t.rows = append(t.rows, titles)
	return t
}

// AddRow adds a row with one cell for each column. The cells must be printable, see [Printable].
func (t *Table) AddRow(cells ...string) { t.rows = append(t.rows, cells) }

// gap separates columns.
const gap = "  "

// Flush writes the table. Flush ignores write errors, because a [Terminal] returns them from its
// Flush.
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

// minLongWidth is the minimum width of a LongColumn with a longer cell, and the minimum width of a
// broken cell on a line of its own.
const minLongWidth = 16

// shrinkColumns reduces the widths of the widest columns until the table has at most width columns
// of text. shrinkColumns reports whether that is possible.
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

// writeRow writes a row to b. It takes several lines if a cell is broken.
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

// wrapCell breaks a cell into lines of at most width columns, or cuts the cell of a LongColumn.
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

// colorize adds color to the first word of a cell in a VerdictColumn, see [Colorize].
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

// writeStacked writes each cell on a line of its own, after the title of its column. An empty line
// separates rows.
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
