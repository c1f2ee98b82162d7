package judge

import (
	"fmt"
	"slices"
)

// Verdict is the verdict about a request, by the robots.txt and by the exceptions from it.
type Verdict uint8

// These are the verdicts. Storage and output use the words, never the numbers.
const (
	Allowed    Verdict = iota
	Disallowed         // The rules disallow the request.
	Stale              // The rules disallow the request, but an older version allows it. The crawler may obey that version, or the change guard keeps it.
	Exempt             // The rules do not apply to the request, or the configuration exempts the crawler.
	Unknown            // No copy of robots.txt is known.
	numVerdicts
)

var verdictWords = [numVerdicts]string{"allowed", "disallowed", "stale", "exempt", "unknown"}

// String returns the word for v in logs, labels and JSON.
func (v Verdict) String() string { return wordFor(verdictWords[:], v) }

// MarshalText implements [encoding.TextMarshaler].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Verdict) UnmarshalText(text []byte) error { return parseWord(verdictWords[:], text, v) }

// Action is what the guard does with a request because of the verdict.
type Action uint8

// These are the actions. Storage and output use the words, never the numbers.
const (
	NoAction Action = iota
	Logged
	Blocked
	Slowed // The guard answers with 429, because the crawler is too fast.
	numActions
)

var actionWords = [numActions]string{"none", "logged", "blocked", "slowed"}

// String returns the word for a in logs, labels and JSON.
func (a Action) String() string { return wordFor(actionWords[:], a) }

// MarshalText implements [encoding.TextMarshaler].
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *Action) UnmarshalText(text []byte) error { return parseWord(actionWords[:], text, a) }

// These are names for groups of clients and sites in labels, in the ledger and on pages.
const (
	// OtherName is for everything without a label of its own.
	OtherName = "_other"
	// SpoofedName is for all spoofed clients, so that no metric shows them under the name of a real
	// crawler.
	SpoofedName = "_spoofed"
)

// wordFor returns the word for a value, "invalid" for an unknown value.
func wordFor[T ~uint8](words []string, value T) string {
	if int(value) < len(words) {
		return words[value]
	}
	return "invalid"
}

// parseWord sets value to the index of text in words. It is the inverse of wordFor.
func parseWord[T ~uint8](words []string, text []byte, value *T) error {
	i := slices.Index(words, string(text))
	if i < 0 {
		return fmt.Errorf("%.40q is none of %v", text, words)
	}
	*value = T(i)
	return nil
}
