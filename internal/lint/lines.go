package lint

import (
	"strings"
	"unicode/utf8"
)

// line is a line of a robots.txt, split into key, value and comment.
type line struct {
	raw         string // raw has no line end.
	key         string // key is trimmed. It is empty if the line has no colon.
	keyOffset   int    // keyOffset is the byte offset of the key in raw.
	value       string // value is trimmed and has no comment.
	valueOffset int    // valueOffset is the byte offset of the value in raw.
	comment     string // comment is the comment with its #, or "".
}

// fileLines are the lines of a robots.txt. A line is split into its parts only when it is read,
// because a hostile file has half a million lines.
type fileLines struct {
	text string
	ends []int32 // ends has the byte offset after each line and its end.
}

// splitLines splits a file at LF, CR and CRLF, as the parser does.
func splitLines(text string) fileLines {
	l := fileLines{text: text, ends: make([]int32, 0, strings.Count(text, "\n")+1)}
	for at := 0; at < len(text); {
		i := strings.IndexAny(text[at:], "\r\n")
		switch {
		case i < 0:
			at = len(text)
		case strings.HasPrefix(text[at+i:], "\r\n"):
			at += i + 2
		default:
			at += i + 1
		}
		l.ends = append(l.ends, int32(at))
	}
	return l
}

// len returns the number of lines.
func (l fileLines) len() int { return len(l.ends) }

// lineByIndex returns the line with index i, counted from 0.
func (l fileLines) lineByIndex(i int) line {
	start := 0
	if i > 0 {
		start = int(l.ends[i-1])
	}
	raw := l.text[start:l.ends[i]]
	raw = strings.TrimSuffix(raw, "\n")
	return parseLine(strings.TrimSuffix(raw, "\r"), i == 0)
}

// whitespace is the white space in a line. Vertical tab and form feed are not white space.
const whitespace = " \t"

// parseLine splits a line into key, value and comment. first allows a byte order mark at the
// beginning.
func parseLine(raw string, first bool) line {
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
	l.keyOffset = start + len(key) - len(strings.TrimLeft(key, whitespace))
	if !colon {
		l.value, l.valueOffset = strings.Trim(s, whitespace), l.keyOffset
		return l
	}
	l.key, l.value = strings.Trim(key, whitespace), strings.Trim(value, whitespace)
	l.valueOffset = start + len(key) + 1 + len(value) - len(strings.TrimLeft(value, whitespace))
	return l
}

// keyColumn returns the column where the key begins, in Unicode code points from 1.
func (l line) keyColumn() int { return columnAfterText(l.raw[:l.keyOffset]) }

// valueColumn returns the column where the value begins, in Unicode code points from 1.
func (l line) valueColumn() int { return columnAfterText(l.raw[:l.valueOffset]) }

// columnAfterText returns the column behind the given beginning of a line, in Unicode code points
// from 1.
func columnAfterText(before string) int { return 1 + utf8.RuneCountInString(before) }
