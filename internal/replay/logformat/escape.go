package logformat

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes the backslash escapes in a field: \xHH of nginx and Apache, \" \\ \n etc. of
// Apache and JSON, \uHHHH of JSON, and \] of HAProxy. Unknown escapes stay unchanged. If b has no
// escapes, unescape returns b. Otherwise it appends the result to buf and returns the appended part.
func unescape(b []byte, buf *[]byte) []byte {
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return b
	}
	dst := *buf
	from := len(dst)
	for ; i >= 0; i = bytes.IndexByte(b, '\\') {
		dst = append(dst, b[:i]...)
		b = b[i:]
		n := 0
		if dst, n = appendEscape(dst, b); n == 0 {
			dst, n = append(dst, '\\'), 1
		}
		b = b[n:]
	}
	dst = append(dst, b...)
	*buf = dst
	return dst[from:len(dst):len(dst)]
}

// appendEscape appends the decoded escape at the start of b to dst. appendEscape returns the length
// of the escape in b, or 0 if b does not start with a known escape.
func appendEscape(dst, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return dst, 0
	}
	switch c := b[1]; c {
	case '"', '\\', '/', '\'', ']':
		return append(dst, c), 2
	case 'n':
		return append(dst, '\n'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'v':
		return append(dst, '\v'), 2
	case 'x':
		if v, ok := hexValue(b[2:], 2); ok {
			return append(dst, byte(v)), 4
		}
	case 'u':
		v, ok := hexValue(b[2:], 4)
		if !ok {
			return dst, 0
		}
		if utf16.IsSurrogate(v) {
			if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
				if low, ok := hexValue(b[8:], 4); ok {
					if r := utf16.DecodeRune(v, low); r != utf8.RuneError {
						return utf8.AppendRune(dst, r), 12
					}
				}
			}
			v = utf8.RuneError
		}
		return utf8.AppendRune(dst, v), 6
	}
	return dst, 0
}

// hexValue returns the value of the first n bytes of b as hexadecimal digits.
func hexValue(b []byte, n int) (v rune, ok bool) {
	if len(b) < n {
		return 0, false
	}
	for _, c := range b[:n] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		v = v<<4 | rune(c)
	}
	return v, true
}

// DecodePercent decodes the percent-encoding in b. Invalid escapes stay unchanged. If b has no
// escapes, DecodePercent returns b. Otherwise it appends the result to buf and returns the appended
// part.
func DecodePercent(b []byte, buf *[]byte) []byte {
	i := bytes.IndexByte(b, '%')
	if i < 0 {
		return b
	}
	dst := *buf
	from := len(dst)
	for ; i >= 0; i = bytes.IndexByte(b, '%') {
		dst = append(dst, b[:i]...)
		if v, ok := hexValue(b[i+1:], 2); ok {
			dst, b = append(dst, byte(v)), b[i+3:]
		} else {
			dst, b = append(dst, '%'), b[i+1:]
		}
	}
	dst = append(dst, b...)
	*buf = dst
	return dst[from:len(dst):len(dst)]
}

// endOfQuoted returns the index of the quote that ends a quoted field, or -1. b begins after the
// opening quote. A backslash escapes the next byte, so an escaped quote does not end the field.
func endOfQuoted(b []byte) int {
	end := bytes.IndexByte(b, '"')
	if end <= 0 || b[end-1] != '\\' {
		return end
	}
	return endOfEscaped(b)
}

// endOfEscaped returns the result of endOfQuoted for fields that may contain a backslash.
func endOfEscaped(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
