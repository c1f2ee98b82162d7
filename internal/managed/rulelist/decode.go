package rulelist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
)

// decoder reads JSON of a known form, and knows where it is.
type decoder struct {
	scanner
	name   string // of the list, for errors
	at     int    // the offset of the token that was read last
	lineAt int    // an offset, and the number of its line
	line   int
}

// newDecoder returns a decoder for a text that is JSON from its first byte to its
// last. Its errors say what else it is.
func newDecoder(name string, data []byte) (*decoder, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	d := &decoder{scanner: scanner{data: data}, name: name, line: 1}
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf(`%s: it is empty; a list without a rule is {"rules": []}`, name)
	case text[0] == '<':
		return nil, fmt.Errorf("%s: it is a web page, and has to be JSON", name)
	case !utf8.Valid(data):
		return nil, d.errorAt(invalid(data), "it is no UTF-8; JSON has to be")
	}
	var any json.RawMessage
	if err := json.Unmarshal(data, &any); err != nil {
		if syntax, ok := err.(*json.SyntaxError); ok {
			return nil, d.errorAt(int(syntax.Offset)-1, "%v", err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// invalid returns where a text is no UTF-8.
func invalid(data []byte) (offset int) {
	for offset < len(data) {
		r, size := utf8.DecodeRune(data[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	return offset
}

// errorAt returns an error with the line and the column of an offset.
func (d *decoder) errorAt(offset int, format string, args ...any) error {
	before := d.data[:min(max(offset, 0), len(d.data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%s:%d:%d: %w", d.name, line, column, fmt.Errorf(format, args...))
}

// mistake returns an error about the token that was read last.
func (d *decoder) mistake(format string, args ...any) error { return d.errorAt(d.at, format, args...) }

// place returns where the token is that was read last, as name:line.
func (d *decoder) place() string {
	d.line += bytes.Count(d.data[d.lineAt:d.at], []byte("\n"))
	d.lineAt = d.at
	return fmt.Sprintf("%s:%d", d.name, d.line)
}

// next reads a token.
func (d *decoder) next() (t token) {
	t, d.at = d.scanner.next()
	return t
}

// open reads the beginning of an object or an array.
func (d *decoder) open(first byte, want string) error {
	if t := d.next(); t.first != first {
		return d.mistake("%s, and not %s", want, t)
	}
	return nil
}

// object reads an object with some of these fields, each once.
func (d *decoder) object(want string, fields []string, read func(field string) error) error {
	if err := d.open('{', want); err != nil {
		return err
	}
	seen := 0 // a bit for each
	for d.more() {
		field := d.next().text
		i := slices.Index(fields, field)
		switch {
		case i < 0:
			return d.mistake("unknown field %.80q; %s", field, hintOf(field, fields))
		case seen&(1<<i) != 0:
			return d.mistake("%s stands here twice; keep one", field)
		}
		seen |= 1 << i
		if err := read(field); err != nil {
			return err
		}
	}
	d.next()
	return nil
}

// hintOf tells which of some fields a misspelt one may stand for.
func hintOf(field string, fields []string) string {
	const longest = 80 // that is worth comparing
	if near := spelling.Near(field[:min(len(field), longest)], fields); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are " + strings.Join(fields, ", ")
}

// array reads an array.
func (d *decoder) array(want string, read func() error) error {
	if err := d.open('[', want); err != nil {
		return err
	}
	return d.rest(read)
}

// rest reads what follows the beginning of an array.
func (d *decoder) rest(read func() error) error {
	for d.more() {
		if err := read(); err != nil {
			return err
		}
	}
	d.next()
	return nil
}

// text reads a string, "" for null.
func (d *decoder) text(field string) (string, error) {
	t := d.next()
	switch {
	case t.first == null:
		return "", nil
	case t.first != '"':
		return "", d.mistake("%s has to be a string, and not %s", field, t)
	case t.text == "":
		return "", d.mistake("%s is empty; leave it out", field)
	}
	return t.text, nil
}

// texts reads an array of at least one string.
func (d *decoder) texts(field, want string) (all []string, err error) {
	if err := d.open('[', want); err != nil {
		return nil, err
	}
	return d.restOfTexts(field, want)
}

// restOfTexts reads what follows the beginning of an array of strings.
func (d *decoder) restOfTexts(field, want string) (all []string, err error) {
	begin := d.at
	err = d.rest(func() error {
		t := d.next()
		if t.first != '"' || t.text == "" {
			return d.mistake("%s has %s among its strings", field, t)
		}
		all = append(all, t.text)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = d.errorAt(begin, "%s, and not an empty list", want)
	}
	return all, err
}
