package judge

import (
	"fmt"
	"slices"
)

// Verdict is what a robots.txt says about a request.
type Verdict uint8

// The verdicts. They are stored and shown by their words, never by number.
const (
	Allowed    Verdict = iota
	Disallowed         // forbidden by the rules
	Stale              // forbidden by a version that this crawler need not know yet
	Exempt             // the rules are not meant for this request, or the configuration says so
	Unknown            // nobody knows the rules
	numVerdicts
)

var verdictWords = [numVerdicts]string{"allowed", "disallowed", "stale", "exempt", "unknown"}

// String returns the word for v that logs, labels and JSON use.
func (v Verdict) String() string { return word(verdictWords[:], v) }

// MarshalText implements [encoding.TextMarshaler].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Verdict) UnmarshalText(text []byte) error { return parseWord(verdictWords[:], text, v) }

// Action is what is done about a request.
type Action uint8

// The actions. They are stored and shown by their words, never by number.
const (
	None Action = iota
	Logged
	Blocked
	Slowed // answered that it comes too early, whatever the rules say of it
	numActions
)

var actionWords = [numActions]string{"none", "logged", "blocked", "slowed"}

// String returns the word for a that logs, labels and JSON use.
func (a Action) String() string { return word(actionWords[:], a) }

// MarshalText implements [encoding.TextMarshaler].
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *Action) UnmarshalText(text []byte) error { return parseWord(actionWords[:], text, a) }

// What stands for many in labels, in the ledger and on pages.
const (
	// OtherName stands for everything that has no name of its own.
	OtherName = "_other"
	// SpoofedName stands for all clients that are known to use a false name, so
	// that nothing they do is counted under it.
	SpoofedName = "_spoofed"
)

// word returns the word for a value, "invalid" if there is none.
func word[T ~uint8](words []string, value T) string {
	if int(value) < len(words) {
		return words[value]
	}
	return "invalid"
}

// parseWord is the inverse of word.
func parseWord[T ~uint8](words []string, text []byte, value *T) error {
	i := slices.Index(words, string(text))
	if i < 0 {
		return fmt.Errorf("%.40q is none of %v", text, words)
	}
	*value = T(i)
	return nil
}
