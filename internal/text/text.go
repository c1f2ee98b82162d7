package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with a ? in place of each character that is not printable,
// and of each run of bytes that is not UTF-8. What is left are letters, marks,
// numbers, punctuation, symbols and the plain space: no line break, no control
// character that a terminal acts upon, nothing that turns the direction of the
// text or hides in it.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' }) {
		return s // as nearly all are
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// Truncate bounds a string to so many bytes, of which there have to be at least three;
// … at its end marks that something is missing. What it returns may share the
// memory of s.
func Truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}

// Abbreviate bounds a string to so many characters, such as a cell of a table has room
// for; … at its end marks that something is missing.
func Abbreviate(s string, most int) string {
	if end := runes(s, most); end < len(s) {
		return s[:runes(s, most-1)] + "…"
	}
	return s
}

// Quote returns the first so many characters of s in double quotes, escaped as in
// Go; … behind them marks that something is missing.
func Quote(s string, most int) string {
	if end := runes(s, most); end < len(s) {
		return fmt.Sprintf("%q…", s[:end])
	}
	return fmt.Sprintf("%q", s)
}

// runes returns where the first n characters of s end.
func runes(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return end
}
