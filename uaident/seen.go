package uaident

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// SeenWord is a word of a User-Agent that affected the result.
type SeenWord struct {
	// Text is the word as sent. A name of several words, a URL or a mail address is one word.
	Text string `json:"text"`
	// Kind is "name" for a registry name, "contact" for a URL or mail address, "generic" for
	// a word such as bot, "tool" for a word such as checker, or "unknown".
	Kind string `json:"kind"`
	// Notes describe the position and spelling of the word. See [Registry.Seen] for the
	// values.
	Notes []string `json:"notes,omitempty"`
}

var kindWords = map[words.Kind]string{
	words.Name: "name", words.Contact: "contact", words.Generic: "generic", words.Tool: "tool",
}

// Seen returns the words that [Registry.Identify] examined, in order, as an explanation of an
// identity. It omits numbers and words of browsers.
func (r *Registry) Seen(ua string) []SeenWord {
	var s scan
	s.split(r, ua)
	s.fromRegistry(r) // joins the words of a name
	seen := make([]SeenWord, 0, s.n)
	for i := range s.words[:s.n] {
		w := &s.words[i]
		found := SeenWord{Text: s.text(w), Kind: "unknown"}
		if kind, ok := kindWords[w.kind]; ok {
			found.Kind = kind
		}
		if slices.ContainsFunc(s.words[:i], func(v word) bool { return v.end >= w.end && v.start < w.start }) {
			continue // part of the previous name
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
