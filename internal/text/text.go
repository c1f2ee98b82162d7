package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable replaces each unprintable character of s, and each run of invalid UTF-8, by a question
// mark. The result contains only letters, marks, numbers, punctuation, symbols and the plain space.
// Line breaks, control characters of terminals, invisible characters, and characters that change
// the direction of text are all replaced.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' }) {
		return s // the usual case
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// Truncate shortens s to at most most bytes and marks the cut with … at the end. most must be at
// least 3. The result can share the memory of s.
func Truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}

// Abbreviate shortens s to at most most characters and marks the cut with … at the end.
func Abbreviate(s string, most int) string {
	if end := runes(s, most); end < len(s) {
		return s[:runes(s, most-1)] + "…"
	}
	return s
}

// Quote returns the first most characters of s as a quoted Go string. A … after the closing quote
// marks a cut.
func Quote(s string, most int) string {
	if end := runes(s, most); end < len(s) {
		return fmt.Sprintf("%q…", s[:end])
	}
	return fmt.Sprintf("%q", s)
}

// runes returns the length in bytes of the first n characters of s.
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
