package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable replaces each unprintable character of s, and each run of invalid UTF-8, by a question
// mark. The result contains only letters, marks, numbers, punctuation, symbols and the plain space.
// Line breaks, control characters of terminals, and characters that change the direction of text
// are all replaced. Some invisible marks and letters stay.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' }) {
		return s // This is the usual case.
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// Truncate returns s if it has at most maxBytes bytes. Otherwise it returns the beginning of s and
// …, together not longer than maxBytes, which must be at least 3. The result can share the memory
// of s.
func Truncate(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxBytes-len("…")], "") + "…"
}

// Abbreviate returns s if it has at most maxRunes characters. Otherwise it returns the beginning of
// s and …, together maxRunes characters.
func Abbreviate(s string, maxRunes int) string {
	if end := prefixLength(s, maxRunes); end < len(s) {
		return s[:prefixLength(s, maxRunes-1)] + "…"
	}
	return s
}

// Quote returns the first maxRunes characters of s as a quoted Go string. If s is longer, … follows
// the closing quote.
func Quote(s string, maxRunes int) string {
	if end := prefixLength(s, maxRunes); end < len(s) {
		return fmt.Sprintf("%q…", s[:end])
	}
	return fmt.Sprintf("%q", s)
}

// prefixLength returns the number of bytes of the first n characters of s.
func prefixLength(s string, n int) int {
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
