package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// This file finds the beginning and end of names with several words: "Gluten Free
// Crawler/1.0".

// maxNameWords is the maximum number of words in a name.
const maxNameWords = 6

// nameStartingAt returns the product name that begins with word i. The name ends with its last
// robot word. Without a robot word, the name ends before a version, a comment or a separator. If a
// later word is the whole name of a robot, the result is that word: FooBot for "some words
// FooBot/1.0" and "foo/FooBot".
func (s *parsedUserAgent) nameStartingAt(i int) string {
	w := &s.words[i]
	start := int(w.start)
	end := start + len(cutVersion(s.wordText(w)))
	if isDomain(s.wordText(w)) {
		return s.ua[start:end]
	}
	robot := 0
	if w.flags&spelledLikeRobot != 0 || isRobotWord(s.wordText(w)) {
		robot = end
	} else if at := int(w.end); at+1 < len(s.ua) && s.ua[at] == '/' && words.Fold[s.ua[at+1]]&words.Letter != 0 {
		// This is a robot after a slash, as in "foo/FooBot".
		if name := words.FirstWord(s.ua[at+1:]); looksLikeRobot(name) {
			return cutVersion(name)
		}
	}
	at := s.endAfterApostrophe(int(w.end))
	if at > int(w.end) {
		end = at
	}
	if end < int(w.end) {
		return s.ua[start:end]
	}
	for n := 1; n < maxNameWords; n++ {
		next := s.nextNameWordEnd(at)
		if next == 0 {
			break
		}
		if w := s.ua[at+1 : next]; isRobotWord(w) {
			if robot = next; !isGenericRobotWord(w) && next < len(s.ua) && s.ua[next] == '/' {
				start = at + 1 // This is FooBot in "some words FooBot/1.0".
			}
		}
		at = next
	}
	if robot > 0 {
		return s.ua[start : start+len(cutVersion(s.ua[start:robot]))]
	}
	if s.canNameEnd(at) {
		return s.ua[start:at]
	}
	return s.ua[start:end]
}

// startsWithName reports whether name begins with word i. A result of nameStartingAt(i) can also
// begin with a later word.
func (s *parsedUserAgent) startsWithName(i int, name string) bool {
	return strings.HasPrefix(s.ua[s.words[i].start:], name)
}

// nameEndingAt returns the name whose last word is word i. For a generic word such as Crawler, the
// name includes the words before it, as in "Acme Web Crawler", and the result is "" if no word of a
// name precedes it. For an unknown word such as FooBot-2.0, the name is that word up to a dot.
func (s *parsedUserAgent) nameEndingAt(i int) string {
	w := &s.words[i]
	start := int(w.start)
	if w.kind == words.Unknown {
		return cutVersion(s.wordText(w)) // The result has no version.
	}
	for n := 1; n < maxNameWords; n++ {
		previous := s.previousNameWordStart(start)
		if previous < 0 {
			break
		}
		start = previous
	}
	if start == int(w.start) && w.kind == words.Generic {
		return ""
	}
	return s.ua[start : int(w.start)+len(cutVersion(s.wordText(w)))]
}

// isRobotWord reports whether a word is a generic robot word or is spelled like a robot's
// name.
func isRobotWord(w string) bool { return isGenericRobotWord(w) || looksLikeRobot(w) }

// isGenericRobotWord reports whether w is a generic robot word, such as crawler.
func isGenericRobotWord(w string) bool {
	return isOneOf(w, genericRobotWords[:])
}

// nextNameWordEnd returns the end of the word after the offset at, at which the previous word of a
// name ends. The result is 0 if the next word cannot be part of the name.
func (s *parsedUserAgent) nextNameWordEnd(at int) int {
	if at+1 >= len(s.ua) || s.ua[at] != ' ' || words.Fold[s.ua[at+1]]&words.Letter == 0 {
		return 0
	}
	w := words.FirstWord(s.ua[at+1:])
	end := s.endAfterApostrophe(at + 1 + len(w))
	if !canBeInName(w) || contactLength(s.ua, at+1, end) > 0 {
		return 0
	}
	return end
}

// endAfterApostrophe returns the end of a word such as "Let's", in which end is the offset of the
// apostrophe. For a word without an apostrophe at end, the result is end.
func (s *parsedUserAgent) endAfterApostrophe(end int) int {
	if end+1 < len(s.ua) && s.ua[end] == '\'' {
		return end + 1 + len(words.FirstWord(s.ua[end+1:]))
	}
	return end
}

// previousNameWordStart returns the start of the word before a name that begins at start. The
// result is -1 if that word cannot be part of the name.
func (s *parsedUserAgent) previousNameWordStart(start int) int {
	if start < 2 || s.ua[start-1] != ' ' {
		return -1
	}
	i := start - 1
	for i > 0 && (words.Fold[s.ua[i-1]] != words.Gap || s.ua[i-1] == '\'') {
		i--
	}
	if i == start-1 || i > 0 && strings.IndexByte("/:@", s.ua[i-1]) >= 0 || words.Fold[s.ua[i]]&words.Letter == 0 {
		return -1
	}
	if w := s.ua[i : start-1]; canBeInName(w) {
		return i
	}
	return -1
}

// nonNameWords cannot be part of a name, but follow names in sentences: "FooBot by Acme".
var nonNameWords = [...]string{
	"from", "by", "for", "used", "powered", "via", "at", "and", "on", "the", "mozilla", "http", "https", "version",
	"beta", "like", "compatible", "is", "www", "a", "an", "this",
}

// isOneOf reports whether w is in list, ignoring case. The words of list must be in lower
// case.
func isOneOf(w string, list []string) bool {
	for _, word := range list {
		if len(word) == len(w) && hasFoldedPrefix(w, word) {
			return true
		}
	}
	return false
}

// canBeInName reports whether w can be a word of a name with several words. Versions such as v2 and
// the words of nonNameWords cannot.
func canBeInName(w string) bool {
	if isOneOf(w, nonNameWords[:]) {
		return false
	}
	return !(len(w) > 1 && w[0]|0x20 == 'v' && words.IsDigit(w[1]))
}

// canNameEnd reports whether a name without a robot word can end at the offset at. A version, a
// comment, a contact, a separator or the end of the User-Agent must follow.
func (s *parsedUserAgent) canNameEnd(at int) bool {
	rest := s.ua[at:]
	rest = strings.TrimLeft(rest, " ")
	if rest == "" {
		return true
	}
	switch c := rest[0]; {
	case c == '/' || c == '(' || c == ';' || c == ',' || c == ')' || c == '-' || c == '+' || c == '[':
		return true
	case words.IsDigit(c), c|0x20 == 'v' && len(rest) > 1 && words.IsDigit(rest[1]):
		return true
	}
	w := words.FirstWord(rest)
	return w != "" && contactLength(rest, 0, len(w)) > 0
}
