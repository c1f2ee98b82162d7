package ledger

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// Sample is one request outside robots.txt.
type Sample struct {
	At      int64        `json:"at"`
	Host    string       `json:"host,omitempty"`
	Name    string       `json:"name,omitempty"`
	Method  string       `json:"method"`
	Path    string       `json:"path"`
	Rule    Rule         `json:"rule"`
	Action  judge.Action `json:"action"`
	Network netip.Prefix `json:"network"`
	Agent   string       `json:"agent"`
	Known   Known        `json:"known"`
}

// Known is what a crawler knows of the rules that it broke.
type Known uint8

// What a crawler may know.
const (
	Never       Known = iota // it was not seen to read the robots.txt
	OldText                  // it has read an earlier version
	CurrentText              // it has read this version
	numKnown
)

var knownWords = [numKnown]string{"never", "old", "current"}

// String returns never, old or current.
func (k Known) String() string { return knownWords[min(k, numKnown-1)] }

// MarshalText implements [encoding.TextMarshaler].
func (k Known) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *Known) UnmarshalText(text []byte) error {
	i := slices.Index(knownWords[:], string(text))
	if i < 0 {
		return fmt.Errorf("%.40q is none of %v", text, knownWords)
	}
	*k = Known(i)
	return nil
}
