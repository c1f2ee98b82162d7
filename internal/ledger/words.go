package ledger

import "fmt"

// Verdict is what a robots.txt says about a request.
type Verdict uint8

// The verdicts, in the order of [Count].
const (
	Allowed    Verdict = iota
	Disallowed         // outside robots.txt
	Stale              // forbidden by a version that the crawler need not know yet
	Exempt             // not meant for this client
	Unknown            // no robots.txt is known
	numVerdicts
)

var verdictWords = [numVerdicts]string{"allowed", "disallowed", "stale", "exempt", "unknown"}

// String returns the word for v that logs and labels use.
func (v Verdict) String() string { return word(verdictWords[:], v) }

// MarshalText implements [encoding.TextMarshaler].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Verdict) UnmarshalText(text []byte) error { return parseWord(verdictWords[:], text, v) }

// Action is what was done about a request.
type Action uint8

// The actions.
const (
	None Action = iota
	Logged
	Blocked
	numActions
)

var actionWords = [numActions]string{"none", "logged", "blocked"}

// String returns the word for a that logs and labels use.
func (a Action) String() string { return word(actionWords[:], a) }

// MarshalText implements [encoding.TextMarshaler].
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *Action) UnmarshalText(text []byte) error { return parseWord(actionWords[:], text, a) }

// Identity is how sure it is that a client is who it claims to be.
type Identity uint8

// The identities, in the order of verify.State.
const (
	Claimed     Identity = iota // nothing to hold the claim against
	Unconfirmed                 // not decided (yet): the word is "unknown"
	Verified                    // a method confirmed the claim
	Spoofed                     // every method denied it
	numIdentities
)

var identityWords = [numIdentities]string{"claimed", "unknown", "verified", "spoofed"}

// String returns the word for i that logs and labels use.
func (i Identity) String() string { return word(identityWords[:], i) }

// MarshalText implements [encoding.TextMarshaler].
func (i Identity) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (i *Identity) UnmarshalText(text []byte) error { return parseWord(identityWords[:], text, i) }

// word returns the word for a value, "invalid" if there is none.
func word[T ~uint8](words []string, value T) string {
	if int(value) < len(words) {
		return words[value]
	}
	return "invalid"
}

// parseWord is the inverse of word.
func parseWord[T ~uint8](words []string, text []byte, value *T) error {
	for i, w := range words {
		if w == string(text) {
			*value = T(i)
			return nil
		}
	}
	return fmt.Errorf("%.40q is none of %v", text, words)
}
