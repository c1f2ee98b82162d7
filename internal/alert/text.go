package alert

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

const (
	maxListedNames = 3   // of crawlers
	maxErrorBytes  = 300 // of a quoted error
)

// formatSentence makes a sentence of words, such as an error, or returns "".
func formatSentence(words string) string {
	words = strings.TrimSuffix(text.Truncate(text.Printable(words), maxErrorBytes), ".")
	if words == "" {
		return ""
	}
	return capitalize(words) + "."
}

// capitalize converts the first letter to upper case.
func capitalize(s string) string { return strings.ToUpper(s[:min(len(s), 1)]) + s[min(len(s), 1):] }

// formatTime formats a time for a sentence.
func formatTime(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("15:04 UTC on 2 January")
}

// joinNames lists names, the first of many.
func joinNames(names []string) string {
	if len(names) > maxListedNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListedNames], ", "), len(names)-maxListedNames)
	}
	return strings.Join(names, ", ")
}

// shellQuote quotes a word for a shell.
func shellQuote(word string) string {
	if isOnly(word, "/:.-_") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// disallowGroup returns the lines of a robots.txt that disallow everything to a crawler, or "" if
// the crawler's name is not valid in a user-agent line.
func disallowGroup(crawler string) string {
	if crawler == "" || !isOnly(crawler, "-_.") {
		return ""
	}
	return "User-agent: " + crawler + "\nDisallow: /"
}

// isOnly reports whether a string consists of ASCII letters, digits and the given punctuation.
func isOnly(s, punctuation string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune(punctuation, c)
	})
}
