package policy

import (
	"bytes"
	"strings"
)

// indexByteFrom returns the index of the first byte c in text from index pos on, or len(text).
func indexByteFrom(text string, pos int, c byte) int {
	if i := strings.IndexByte(text[pos:], c); i >= 0 {
		return pos + i
	}
	return len(text)
}

// trimSpace returns s without spaces and tabs at both ends.
func trimSpace(s string) string {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// splitTwoWords returns the words of a line of exactly two words, separated by spaces or tabs. ok
// is false for other lines. s must not start or end with white space.
func splitTwoWords(s string) (first, second string, ok bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return "", "", false
	}
	first, second = s[:i], trimSpace(s[i:])
	return first, second, !strings.ContainsAny(second, " \t")
}

// isLineEnd reports whether c is LF or CR.
func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

// countLineEnds returns the number of line ends in text. A CRLF counts once.
func countLineEnds(text []byte) int {
	return bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) - bytes.Count(text, []byte("\r\n"))
}

// looksLikeHTML reports whether the file starts like a web page, with a tag, a comment or a
// declaration.
func looksLikeHTML(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n"), "<")
}
