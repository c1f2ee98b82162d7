package alert

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

const (
	maxListedNames = 3   // maxListedNames is the maximum number of crawlers to name.
	maxErrorBytes  = 300 // maxErrorBytes is the maximum length of a quoted error in bytes.
)

// formatSentence returns words, such as an error, as a sentence with a capital letter and a full
// stop. It cuts long words. The result is "" for "".
func formatSentence(words string) string {
	words = strings.TrimSuffix(text.Truncate(text.Printable(words), maxErrorBytes), ".")
	if words == "" {
		return ""
	}
	return capitalize(words) + "."
}

// capitalize converts the first letter to upper case.
func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// formatTime formats a time in UTC, with the date unless it is the date of now.
func formatTime(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("15:04 UTC on 2 January")
}

// joinNames lists the first names, and then the number of further names.
func joinNames(names []string) string {
	if len(names) > maxListedNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListedNames], ", "), len(names)-maxListedNames)
	}
	return strings.Join(names, ", ")
}

// shellQuote quotes a word for a shell if necessary.
func shellQuote(word string) string {
	if hasOnlyLettersDigitsAnd(word, "/:.-_") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// disallowGroup returns the lines of a robots.txt that disallow everything for a crawler. The
// result is "" if the crawler's name is not valid in a User-agent line.
func disallowGroup(crawler string) string {
	if crawler == "" || !hasOnlyLettersDigitsAnd(crawler, "-_.") {
		return ""
	}
	return "User-agent: " + crawler + "\nDisallow: /"
}

// hasOnlyLettersDigitsAnd reports whether s consists of ASCII letters, digits and characters in
// punctuation only.
func hasOnlyLettersDigitsAnd(s, punctuation string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune(punctuation, c)
	})
}
