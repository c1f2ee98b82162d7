package logformat

import "bytes"

// w3cFieldsPrefix begins the line that names the fields of those after it.
const w3cFieldsPrefix = "#Fields:"

// w3cDatePrefix begins a line that has the date, for lines without one.
const w3cDatePrefix = "#Date:"

// Directives are what the lines of a log that begin with # say of those after
// them. The zero value is the start of a log. Only logs in the extended format of
// the W3C have any.
type Directives struct {
	fields []w3cField
	date   []byte // of the last #Date
}

// Set makes d the same as other, in the memory that d has.
func (d *Directives) Set(other *Directives) {
	d.fields, d.date = append(d.fields[:0], other.fields...), append(d.date[:0], other.date...)
}

// Scan takes in the directives among some whole lines of a log of the format.
func (d *Directives) Scan(f *Format, lines []byte) {
	if !f.w3c {
		return
	}
	for from := 0; ; {
		i := bytes.IndexByte(lines[from:], '#')
		if i < 0 {
			return
		}
		i += from
		from = i + 1
		if i > 0 && lines[i-1] != '\n' {
			continue
		}
		end := bytes.IndexByte(lines[i:], '\n')
		if end < 0 {
			end = len(lines) - i
		}
		d.take(TrimEnd(lines[i : i+end]))
	}
}

// Resume has a parser go on with the lines that follow the directives.
func (d *Directives) Resume(p Parser) {
	if p, ok := p.(*w3cParser); ok {
		p.Set(d)
	}
}

// take takes in a line that begins with #.
func (d *Directives) take(line []byte) {
	if names, ok := bytes.CutPrefix(line, []byte(w3cFieldsPrefix)); ok {
		d.fields = d.fields[:0]
		for name := range bytes.FieldsSeq(names) {
			d.fields = append(d.fields, w3cFields[string(name)])
		}
		return
	}
	if date, ok := bytes.CutPrefix(line, []byte(w3cDatePrefix)); ok {
		date = bytes.TrimSpace(date)
		d.date = append(d.date[:0], date[:min(len(date), 10)]...)
	}
}
