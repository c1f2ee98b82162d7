package verify

import (
	"fmt"
	"slices"
)

// State says whether a client is the crawler that its User-Agent names. The zero value is
// [Claimed].
type State uint8

const (
	Claimed  State = iota // Claimed means that no method can decide.
	Unknown               // Unknown means that no method has decided (yet).
	Verified              // Verified means that a method confirmed the claim.
	Spoofed               // Spoofed means that every method denied the claim conclusively.
	numStates
)

var stateNames = [numStates]string{"claimed", "unknown", "verified", "spoofed"}

// String returns the name in configuration, logs and metrics, such as "verified".
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
		return fmt.Errorf("unknown state %.40q; want one of %v", text, stateNames)
	}
	*s = state
	return nil
}

// ParseState returns the state with the given name. ok is false for an unknown name.
func ParseState(word string) (s State, ok bool) {
	i := slices.Index(stateNames[:], word)
	return State(max(i, 0)), i >= 0
}

// States returns all states in order of declaration.
func States() []State { return []State{Claimed, Unknown, Verified, Spoofed} }

// Method is a way to verify a client. The zero value is [None].
type Method uint8

const (
	None       Method = iota // None means that no method decided.
	Ranges                   // Ranges are address lists of the operator.
	ReverseDNS               // ReverseDNS is forward-confirmed reverse DNS.
	WebBotAuth               // WebBotAuth is a signature of the request. See package botauth.
	numMethods
)

var methodNames = [numMethods]string{"none", "ranges", "rdns", "web_bot_auth"}

// String returns the name in configuration, logs and metrics: "none", "ranges", "rdns" or
// "web_bot_auth".
func (m Method) String() string {
	if m < numMethods {
		return methodNames[m]
	}
	return "invalid"
}

// Finding is the result of a verification with the method that decided.
type Finding struct {
	State State
	// Method is the method that confirmed the claim, or the last method that denied the claim, or
	// [None] if no method decided.
	Method Method
}
