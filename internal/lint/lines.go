package lint

import (
	"strings"
	"unicode/utf8"
)

// line is a line of the file as it stands there.
type line struct {
	raw     string // without its end
	key     string // trimmed; "" if the line has no colon
	keyAt   int    // byte offset of the key in raw
	value   string // trimmed, without the comment
	valueAt int    // byte offset of the value in raw
	comment string // from # on, "" if there is none
}

// readLines splits a text as the parser does: LF, CR and CRLF end a line.
func readLines(text string) []line {
	var lines []line
	for first := true; text != ""; first = false {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			i = len(text)
		}
		raw := text[:i]
		switch {
		case strings.HasPrefix(text[i:], "\r\n"):
			i += 2
		case i < len(text):
			i++
		}
		text = text[i:]
		lines = append(lines, readLine(raw, first))
	}
	return lines
}

// space is what counts as white space in a line; vertical tab and form feed do not.
const space = " \t"

// readLine takes a line apart. The first one may begin with a byte order mark.
func readLine(raw string, first bool) line {
	l := line{raw: raw}
	start := 0
	if first {
		start = len(raw) - len(strings.TrimPrefix(raw, "\ufeff"))
	}
	s := raw[start:]
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if i := strings.IndexByte(s, '#'); i >= 0 {
		s, l.comment = s[:i], s[i:]
	}
	key, value, colon := strings.Cut(s, ":")
	l.keyAt = start + len(key) - len(strings.TrimLeft(key, space))
	if !colon {
		l.value, l.valueAt = strings.Trim(s, space), l.keyAt
		return l
	}
	l.key, l.value = strings.Trim(key, space), strings.Trim(value, space)
	l.valueAt = start + len(key) + 1 + len(value) - len(strings.TrimLeft(value, space))
	return l
}

func (l line) keyColumn() int   { return columns(l.raw[:l.keyAt]) }
func (l line) valueColumn() int { return columns(l.raw[:l.valueAt]) }

// columns returns the column of what follows a piece of a line, counted from 1
// in Unicode code points.
func columns(before string) int { return 1 + utf8.RuneCountInString(before) }
