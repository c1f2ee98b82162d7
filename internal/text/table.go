package text

import (
	"io"
	"strings"
)

// Kind says what stands in a column of a table.
type Kind uint8

const (
	Name    Kind = iota // a name, a number: never broken, never cut
	List                // names with commas between them: broken behind a comma
	Prose               // broken between words
	Long                // a path, a rule: cut
	Verdict             // as Name; its first word is coloured, see [Paint]
)

// words returns the pieces of a cell that are never broken, with what stands
// between them.
func (k Kind) words(cell string) (words []string, between string) {
	switch k {
	case List:
		return strings.Split(cell, ", "), ", "
	case Prose:
		return strings.Fields(cell), " "
	}
	return []string{cell}, ""
}

// Column is a column of a table.
type Column struct {
	Title string
	Kind  Kind
}

// Table lays out rows in columns. On a [Screen] it becomes as narrow as that is:
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

// Row adds a row, of as many cells as there are columns. They have to be
// printable.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// gap separates columns.
const gap = "  "

// Flush writes the table. The writer keeps an error, as a [Screen] does.
func (t *Table) Flush() {
	widths := make([]int, len(t.columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	var b strings.Builder
	if s, ok := t.w.(*Screen); ok && s.width > 0 && !t.squeeze(widths, s.width) {
		t.stack(&b, s.width)
	} else {
		for _, row := range t.rows {
			t.row(&b, row, widths)
		}
	}
	_, _ = io.WriteString(t.w, b.String())
}

// leastLong is how narrow a column that is Long may become.
const leastLong = 16

// squeeze makes the widest columns narrower until the table fits, and reports
// whether it does.
func (t *Table) squeeze(widths []int, width int) bool {
	least := make([]int, len(widths))
	for _, row := range t.rows {
		for i, cell := range row {
			words, between := t.columns[i].Kind.words(cell)
			for _, word := range words {
				least[i] = max(least[i], columns(word+strings.TrimSpace(between)))
			}
		}
	}
	total := t.Indent + len(gap)*(len(widths)-1)
	for i, w := range widths {
		total += w
		if t.columns[i].Kind == Long {
			least[i] = min(least[i], leastLong)
		}
	}
	for total > width {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
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

// row writes a row, in as many lines as its cells take.
func (t *Table) row(b *strings.Builder, row []string, widths []int) {
	cells := make([][]string, len(row))
	lines := 1
	for i, cell := range row {
		cells[i] = broken(cell, t.columns[i].Kind, widths[i])
		lines = max(lines, len(cells[i]))
	}
	for n := range lines {
		line, behind := strings.Repeat(" ", t.Indent), ""
		for i, cell := range cells {
			piece := ""
			if n < len(cell) {
				piece = cell[n]
			}
			line += behind + t.paint(i, piece)
			behind = strings.Repeat(" ", widths[i]-columns(piece)) + gap
		}
		if lines > 1 {
			line = strings.TrimRight(line, " ")
		}
		b.WriteString(line + "\n")
	}
}

// broken breaks a cell into pieces that are at most so wide, and cuts what is
// Long.
func broken(cell string, kind Kind, width int) []string {
	if columns(cell) <= width {
		return []string{cell}
	}
	var pieces []string
	words, between := kind.words(cell)
	for n, word := range words {
		if n < len(words)-1 {
			word += strings.TrimSpace(between)
		}
		if kind == Long {
			word = Short(word, width)
		}
		if last := len(pieces) - 1; last >= 0 && columns(pieces[last])+1+columns(word) <= width {
			pieces[last] += " " + word
		} else {
			pieces = append(pieces, word)
		}
	}
	return pieces
}

// paint colours the first word of a cell.
func (t *Table) paint(column int, cell string) string {
	if t.columns[column].Kind != Verdict {
		return cell
	}
	word, rest, more := strings.Cut(cell, " ")
	if word = Paint(t.w, word); more {
		word += " "
	}
	return word + rest
}

// stack writes a line for each cell, and an empty one between rows.
func (t *Table) stack(b *strings.Builder, width int) {
	widest := 0
	for _, title := range t.rows[0] {
		widest = max(widest, columns(title))
	}
	margin := "\n" + strings.Repeat(" ", t.Indent+widest) + gap
	for n, row := range t.rows[1:] {
		if n > 0 {
			b.WriteByte('\n')
		}
		for i, cell := range row {
			title := t.rows[0][i]
			pieces := []string{t.paint(i, cell)}
			if kind := t.columns[i].Kind; kind == List || kind == Prose {
				pieces = broken(cell, kind, max(leastLong, width-len(margin)+1))
			}
			line := strings.Repeat(" ", t.Indent) + title + strings.Repeat(" ", widest-columns(title)) + gap + strings.Join(pieces, margin)
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}
