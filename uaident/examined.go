package uaident

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// ExaminedWord is a word of a User-Agent that can affect the identity.
type ExaminedWord struct {
	// Text is the word as sent. A name of several words, a URL or a mail address is one word.
	Text string `json:"text"`
	// Kind is "name" for a registry name, "contact" for a URL or mail address, "generic" for
	// a word such as bot, "tool" for a word such as checker, or "unknown".
	Kind string `json:"kind"`
	// Notes describe the position and spelling of the word, such as `after "compatible;"` or
	// "spelled like a robot's name".
	Notes []string `json:"notes,omitempty"`
}

// kindNames are the values of [ExaminedWord.Kind].
var kindNames = map[words.Kind]string{
	words.Name: "name", words.Contact: "contact", words.Generic: "generic", words.Tool: "tool",
}

// ExaminedWords returns the words of a User-Agent that can affect the result of
// [Registry.Identify], in order, as an explanation of an identity. ExaminedWords omits numbers,
// words such as "like" and "compatible", and words of browsers that begin no registry name.
func (r *Registry) ExaminedWords(ua string) []ExaminedWord {
	var s parsedUserAgent
	s.splitWords(r, ua)
	s.findRegisteredNames(r) // This call merges the words of each name.
	examined := make([]ExaminedWord, 0, s.numWords)
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		examinedWord := ExaminedWord{Text: s.wordText(w), Kind: "unknown"}
		if kind, ok := kindNames[w.kind]; ok {
			examinedWord.Kind = kind
		}
		if slices.ContainsFunc(s.words[:i], func(v word) bool { return v.end >= w.end && v.start < w.start }) {
			continue // This is a word of the previous name.
		}
		for _, note := range []struct {
			flag wordFlags
			text string
		}{
			{afterLike, `after "like"`}, {afterCompatible, `after "compatible;"`}, {inDevice, "in the name of a device"},
			{notAProduct, "in a version"}, {spelledLikeRobot, "spelled like a robot's name"},
		} {
			if w.flags&note.flag != 0 {
				examinedWord.Notes = append(examinedWord.Notes, note.text)
			}
		}
		examined = append(examined, examinedWord)
	}
	return examined
}
