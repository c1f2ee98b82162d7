package verify

import (
	"fmt"
	"slices"
)

// State says what is known about a claim. The zero value is [Claimed].
type State uint8

const (
	Claimed  State = iota // nothing to hold the claim against
	Unknown               // not decided (yet)
	Verified              // a method confirmed the claim
	Spoofed               // every method denied it conclusively
	numStates
)

var stateNames = [numStates]string{"claimed", "unknown", "verified", "spoofed"}

// String returns the word that configuration, logs and metrics use, such as
// "verified".
func (s State) String() string {
	if s < numStates {
		return stateNames[s]
	}
	return "invalid"
}

// MarshalText implements [encoding.TextMarshaler].
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *State) UnmarshalText(text []byte) error {
	state, ok := ParseState(string(text))
	if !ok {
		return fmt.Errorf("%.40q is none of %v", text, stateNames)
	}
	*s = state
	return nil
}

// ParseState returns the state of a word. ok is false if there is none.
func ParseState(word string) (s State, ok bool) {
	i := slices.Index(stateNames[:], word)
	return State(max(i, 0)), i >= 0
}

// States returns all states in the order of their declaration.
func States() []State { return []State{Claimed, Unknown, Verified, Spoofed} }

// Method is a way to verify a claim. The zero value is [None].
type Method uint8

const (
	None       Method = iota // no method decided
	Ranges                   // the addresses that the operator publishes
	ReverseDNS               // forward-confirmed reverse DNS
	WebBotAuth               // a signature of the request, which package botauth verifies
	numMethods
)

var methodNames = [numMethods]string{"none", "ranges", "rdns", "web_bot_auth"}

// String returns the word that configuration, logs and metrics use: "none",
// "ranges", "rdns" or "web_bot_auth".
func (m Method) String() string {
	if m < numMethods {
		return methodNames[m]
	}
	return "invalid"
}

// Finding is what is known about a claim.
type Finding struct {
	State State
	// Method is the one that confirmed the claim, or of those that denied it the
	// last; [None] if no method decided.
	Method Method
}
