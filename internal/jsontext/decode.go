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

// Decoder reads a JSON file with a known structure. Its errors have the line and the column of a
// mistake.
type Decoder struct {
	scanner
	name      string // name is the name of the file, for errors.
	pos       int    // pos is the offset of the last token.
	lineStart int    // These are an offset and its line number.
	line      int
}

// NewDecoder returns a decoder for data, which must be a single JSON value. For other data it
// returns an error that tells the reason. If data is empty, the error ends with emptyAdvice.
func NewDecoder(name string, data []byte, emptyAdvice string) (*Decoder, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	d := &Decoder{scanner: scanner{data: data}, name: name, line: 1}
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("%s: it is empty; %s", name, emptyAdvice)
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

// invalidUTF8Offset returns the offset of the first byte that is not UTF-8, or the length of data.
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

// ErrorAt returns an error with the name of the file, and the line and the column of an offset.
func (d *Decoder) ErrorAt(offset int, format string, args ...any) error {
	before := d.data[:min(max(offset, 0), len(d.data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%s:%d:%d: %w", d.name, line, column, fmt.Errorf(format, args...))
}

// Errorf returns an error with the line and the column of the last token.
func (d *Decoder) Errorf(format string, args ...any) error { return d.ErrorAt(d.pos, format, args...) }

// Offset returns the offset of the last token in the data.
func (d *Decoder) Offset() int { return d.pos }

// SetErrorOffset sets the offset that Errorf and Position use until the next token is read.
func (d *Decoder) SetErrorOffset(offset int) { d.pos = offset }

// Peek returns the first byte of the next token, and its offset, without reading the token. At the
// end of the data the byte is 0.
func (d *Decoder) Peek() (first byte, offset int) {
	first = d.peek() // This sets d.tokenEnd. In one return statement, Go does not specify which is evaluated first.
	return first, d.tokenEnd
}

// Skip reads a value of any type with all nested values, and drops it.
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

// Position returns the file name and the line of the last token, as "name:line".
func (d *Decoder) Position() string {
	d.line += bytes.Count(d.data[d.lineStart:d.pos], []byte("\n"))
	d.lineStart = d.pos
	return fmt.Sprintf("%s:%d", d.name, d.line)
}

// Next reads the next token.
func (d *Decoder) Next() (t Token) {
	t, d.pos = d.scanner.next()
	return t
}

// readStart reads the token that starts an object ({) or an array ([). expected says in the error
// what was expected.
func (d *Decoder) readStart(first byte, expected string) error {
	if t := d.Next(); t.FirstByte != first {
		return d.Errorf("%s, and not %s", expected, t)
	}
	return nil
}

// ReadObject reads an object. It calls read for each field, which must read the value. An unknown
// or repeated field is an error. expected describes the value, for the error if the next value is
// no object.
func (d *Decoder) ReadObject(expected string, fields []string, read func(field string) error) error {
	if err := d.readStart('{', expected); err != nil {
		return err
	}
	seen := 0 // This has one bit for each field that has been read.
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

// SuggestField returns a hint for an error about an unknown field: the most similar field, or all
// fields.
func SuggestField(field string, fields []string) string {
	const longest = 80 // A hint for a longer name would cost too much time.
	if near := text.Nearest(field[:min(len(field), longest)], fields); near != "" {
		return "did you mean " + near + "?"
	}
	if len(fields) == 1 {
		return "known is " + fields[0]
	}
	return "known are " + strings.Join(fields, ", ")
}

// ReadArray reads an array. It calls read for each element, which must read the element. expected
// describes the value, for the error if the next value is no array.
func (d *Decoder) ReadArray(expected string, read func() error) error {
	if err := d.readStart('[', expected); err != nil {
		return err
	}
	return d.ReadRemainingArray(read)
}

// ReadRemainingArray reads an array of which the token [ was read already.
func (d *Decoder) ReadRemainingArray(read func() error) error {
	for d.More() {
		if err := read(); err != nil {
			return err
		}
	}
	d.Next()
	return nil
}

// ReadString reads the value of a field, which must be a string or null. ReadString returns "" for
// null. An empty string is an error.
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

// ReadStrings reads an array of strings, with at least one string, none of them empty.
func (d *Decoder) ReadStrings(field, expected string) (values []string, err error) {
	if err := d.readStart('[', expected); err != nil {
		return nil, err
	}
	return d.ReadRemainingStrings(field, expected)
}

// ReadRemainingStrings does the same as ReadStrings after the token [ was read.
func (d *Decoder) ReadRemainingStrings(field, expected string) (values []string, err error) {
	begin := d.pos
	err = d.ReadRemainingArray(func() error {
		t := d.Next()
		if t.FirstByte != '"' || t.Text == "" {
			return d.Errorf("%s has %s among its strings", field, t)
		}
		values = append(values, t.Text)
		return nil
	})
	if err == nil && len(values) == 0 {
		err = d.ErrorAt(begin, "%s, and not an empty list", expected)
	}
	return values, err
}
