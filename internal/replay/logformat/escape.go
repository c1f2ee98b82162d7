package logformat

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape undoes the backslash escapes of a field: \xHH of nginx and Apache,
// \" \\ \n and the like of Apache and of JSON, \uHHHH of JSON, \] of HAProxy. What is
// no escape stays as it is. It returns b itself if there is nothing to undo, else a part of
// buf, which it appends to.
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

// appendEscape appends what the escape at the start of b stands for and returns
// its length, 0 if it is none.
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

// hexValue reads n hexadecimal digits.
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

// Unpercent undoes percent-encoding; what is no escape stays. Like unescape it
// returns b itself if there is nothing to undo.
func Unpercent(b []byte, buf *[]byte) []byte {
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

// endOfQuoted returns where a quoted field ends: at the first quote that no
// backslash escapes. It is -1 if there is none.
func endOfQuoted(b []byte) int {
	end := bytes.IndexByte(b, '"')
	if end <= 0 || b[end-1] != '\\' {
		return end
	}
	return endOfEscaped(b)
}

// endOfEscaped is endOfQuoted for fields with a backslash before a quote.
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
