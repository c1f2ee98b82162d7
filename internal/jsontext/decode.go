package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Decoder decodes JSON with a fixed structure and records positions for errors.
type Decoder struct {
	scanner
	name      string // name of the file, for errors
	pos       int    // offset of the last token
	lineStart int    // an offset and its line number
	line      int
}

// NewDecoder returns a decoder for data, which must be a single JSON value. For other data
// NewDecoder returns an error with the reason. empty is the advice in the error for empty data.
func NewDecoder(name string, data []byte, empty string) (*Decoder, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	d := &Decoder{scanner: scanner{data: data}, name: name, line: 1}
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("%s: it is empty; %s", name, empty)
	case text[0] == '<':
		return nil, fmt.Errorf("%s: this is a web page, not JSON", name)
	case !utf8.Valid(data):
		return nil, d.ErrorAt(invalidUTF8Offset(data), "this is not UTF-8, which JSON requires")
	}
	var any json.RawMessage
	if err := json.Unmarshal(data, &any); err != nil {
		if syntax, ok := err.(*json.SyntaxError); ok {
			at := int(syntax.Offset) - 1
			if before := bytes.TrimRight(data[:at], " \t\r\n"); bytes.HasSuffix(before, []byte(",")) && (data[at] == ']' || data[at] == '}') {
				return nil, d.ErrorAt(len(before)-1, "no value follows this comma; remove the comma")
			}
			return nil, d.ErrorAt(at, "%v", err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// invalidUTF8Offset returns the offset of the first invalid UTF-8.
func invalidUTF8Offset(data []byte) (offset int) {
	for offset < len(data) {
		r, size := utf8.DecodeRune(data[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	return offset
}

// ErrorAt returns an error with the line and the column of an offset.
func (d *Decoder) ErrorAt(offset int, format string, args ...any) error {
	before := d.data[:min(max(offset, 0), len(d.data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%s:%d:%d: %w", d.name, line, column, fmt.Errorf(format, args...))
}

// Errorf returns an error about the last token.
func (d *Decoder) Errorf(format string, args ...any) error { return d.ErrorAt(d.pos, format, args...) }

// Offset returns the offset of the last token.
func (d *Decoder) Offset() int { return d.pos }

// Seek sets the offset for Mistake and Place.
func (d *Decoder) Seek(offset int) { d.pos = offset }

// Peek moves to the next token. Peek returns the first byte and the offset. At the end the byte is
// 0.
func (d *Decoder) Peek() (first byte, at int) { return d.peek(), d.end }

// Skip skips a value of any type.
func (d *Decoder) Skip() {
	for depth := 0; ; {
		switch d.Next().FirstByte {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case 0:
			return
		}
		if depth == 0 {
			return
		}
	}
}

// Position returns the position of the last token as name:line.
func (d *Decoder) Position() string {
	d.line += bytes.Count(d.data[d.lineStart:d.pos], []byte("\n"))
	d.lineStart = d.pos
	return fmt.Sprintf("%s:%d", d.name, d.line)
}

// Next reads a token.
func (d *Decoder) Next() (t Token) {
	t, d.pos = d.scanner.next()
	return t
}

// readStart reads the start of an object or an array.
func (d *Decoder) readStart(first byte, want string) error {
	if t := d.Next(); t.FirstByte != first {
		return d.Errorf("%s, and not %s", want, t)
	}
	return nil
}

// ReadObject reads an object. An unknown or repeated field is an error.
func (d *Decoder) ReadObject(want string, fields []string, read func(field string) error) error {
	if err := d.readStart('{', want); err != nil {
		return err
	}
	seen := 0 // a bit for each field
	for d.More() {
		field := d.Next().Text
		i := slices.Index(fields, field)
		switch {
		case i < 0:
			return d.Errorf("unknown field %.80q; %s", field, SuggestField(field, fields))
		case seen&(1<<i) != 0:
			return d.Errorf("%s occurs twice; remove one", field)
		}
		seen |= 1 << i
		if err := read(field); err != nil {
			return err
		}
	}
	d.Next()
	return nil
}

// SuggestField suggests fields similar to a misspelled field.
func SuggestField(field string, fields []string) string {
	const longest = 80 // longer names get no hint
	if near := text.Nearest(field[:min(len(field), longest)], fields); near != "" {
		return "did you mean " + near + "?"
	}
	if len(fields) == 1 {
		return "known is " + fields[0]
	}
	return "known are " + strings.Join(fields, ", ")
}

// ReadArray reads an array.
func (d *Decoder) ReadArray(want string, read func() error) error {
	if err := d.readStart('[', want); err != nil {
		return err
	}
	return d.ReadRemainingArray(read)
}

// ReadRemainingArray reads an array after its start.
func (d *Decoder) ReadRemainingArray(read func() error) error {
	for d.More() {
		if err := read(); err != nil {
			return err
		}
	}
	d.Next()
	return nil
}

// ReadString reads a string. null is an empty string.
func (d *Decoder) ReadString(field string) (string, error) {
	t := d.Next()
	switch {
	case t.FirstByte == Null:
		return "", nil
	case t.FirstByte != '"':
		return "", d.Errorf("%s has to be a string, and not %s", field, t)
	case t.Text == "":
		return "", d.Errorf("%s is empty; leave it out", field)
	}
	return t.Text, nil
}

// ReadStrings reads an array of at least one string.
func (d *Decoder) ReadStrings(field, want string) (all []string, err error) {
	if err := d.readStart('[', want); err != nil {
		return nil, err
	}
	return d.ReadRemainingStrings(field, want)
}

// ReadRemainingStrings reads an array of strings after its start.
func (d *Decoder) ReadRemainingStrings(field, want string) (all []string, err error) {
	begin := d.pos
	err = d.ReadRemainingArray(func() error {
		t := d.Next()
		if t.FirstByte != '"' || t.Text == "" {
			return d.Errorf("%s has %s among its strings", field, t)
		}
		all = append(all, t.Text)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = d.ErrorAt(begin, "%s, and not an empty list", want)
	}
	return all, err
}
