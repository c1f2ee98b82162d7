package uaident

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// SeenWord is a word of a User-Agent that counted for something.
type SeenWord struct {
	// Text is the word as it was sent; a name of several words, a URL or a mail
	// address is one.
	Text string `json:"text"`
	// Kind is "name" for a name in the registry, "contact" for a URL or mail
	// address, "generic" for a word such as bot, "tool" for one such as checker,
	// and "unknown" for all others.
	Kind string `json:"kind"`
	// Notes say what else counts about it: "like" stands before it, "compatible;"
	// does, it is part of a device's name, of a version or a longer name, or
	// spelled like a robot's name.
	Notes []string `json:"notes,omitempty"`
}

var kindWords = map[words.Kind]string{
	words.Name: "name", words.Contact: "contact", words.Generic: "generic", words.Tool: "tool",
}

// Seen returns the words that [Registry.Identify] looks at, in order: those
// that are neither numbers nor what browsers send. It is meant for explaining an
// identity.
func (r *Registry) Seen(ua string) []SeenWord {
	var s scan
	s.split(r, ua)
	s.inRegistry(r) // joins the words of a name
	seen := make([]SeenWord, 0, s.n)
	for i := range s.words[:s.n] {
		w := &s.words[i]
		found := SeenWord{Text: s.text(w), Kind: "unknown"}
		if kind, ok := kindWords[w.kind]; ok {
			found.Kind = kind
		}
		if slices.ContainsFunc(s.words[:i], func(v word) bool { return v.end >= w.end && v.start < w.start }) {
			continue // within the name before
		}
		for _, note := range []struct {
			flag wordFlags
			text string
		}{
			{afterLike, `after "like"`}, {afterCompatible, `after "compatible;"`}, {inDevice, "in the name of a device"},
			{inVersion, "in a version"}, {isRobot, "spelled like a robot's name"},
		} {
			if w.flags&note.flag != 0 {
				found.Notes = append(found.Notes, note.text)
			}
		}
		seen = append(seen, found)
	}
	return seen
}
