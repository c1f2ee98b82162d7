package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// These are bounds on the parsed part of a User-Agent.
const (
	maxUserAgentBytes = 2048 // Bytes after this number are ignored.
	// This is the maximum number of words in parsedUserAgent.words, without words of browsers and
	// numbers.
	maxWords = 48
)

// word is a word of a User-Agent, or a URL or mail address. The registry sets kind and key:
//
//	kind                    key     meaning
//	Unknown                 -1      not in words.json, and not the first word of a registry name
//	Unknown                 >= 0    the first word of registry names with several words or ExactCase
//	Browser                 >= 0    the same, and a word of browsers; other words of browsers are not stored
//	Name, Generic or Tool   >= 0    a registry name, or a word of words.json
//	Contact                 -1      a URL or mail address
//
// findRegisteredNames looks up words again without their version or domain, and merges the words of a
// registry name: the first word gets the kind Name and the end of the whole name, and the other
// words get the flag notAProduct.
type word struct {
	hash       uint32
	start, end uint16
	key        int16 // key is the index in Registry.keys, or -1.
	kind       words.Kind
	flags      wordFlags
	comment    uint8 // comment is the number of the comment that contains the word, or 0.
}

// wordFlags describe the position and spelling of a word.
type wordFlags uint8

const (
	afterLike        wordFlags = 1 << iota // The word follows "like", as in "like Googlebot".
	afterCompatible                        // The word follows "compatible;", as in "compatible; Googlebot".
	inDevice                               // The word follows "Android" in the same comment.
	notAProduct                            // The word follows a slash directly, or is a later word of a longer name.
	spelledLikeRobot                       // The word is spelled like a robot's name.
)

// wordContext describes the preceding words that change the role of a word, such as "like" or "compatible;".
type wordContext struct {
	flags        wordFlags
	afterAndroid bool // afterAndroid is true if "Android" precedes the word in the same comment.
}

// parsedUserAgent is a User-Agent and the words that splitWords found in it.
type parsedUserAgent struct {
	ua       string
	words    [maxWords]word
	numWords int // numWords is the number of valid elements of words.
	// firstKind is the kind of the first word that is neither a number nor a contact.
	firstKind       words.Kind
	hasFirstKind    bool   // hasFirstKind is true if firstKind is set.
	numBrowserWords int    // numBrowserWords is the number of words of browsers in ua.
	kindBits        uint32 // kindBits has the bits of the kinds of words in ua (see kindBit), and the bits below.
	crawlerOffset   uint16 // findRegisteredNames sets crawlerOffset, the offset of the crawler's name in ua.
}

// These are additional bits of parsedUserAgent.kindBits for unknown words in the User-Agent.
const (
	unknownRobotLikeBit       = 1 << (16 + iota) // An unknown word is spelled like a robot's name.
	unknownAfterCompatibleBit                    // An unknown word follows "compatible;".
	unknownWordBit                               // The User-Agent has an unknown word.
)

// kindBit returns the bit of parsedUserAgent.kindBits for words of kind k. splitWords sets the bit
// if it finds such a word. The bit for [words.Name] is also set for the first word of a longer
// registry name. The bit for [words.Browser] is not set for words that isBrowserWord finds.
func kindBit(k words.Kind) uint32 { return 1 << k }

// commentDepthChange is 1 for a byte that opens a comment, -1 for a byte that closes a comment, and 0
// for other bytes.
var commentDepthChange = [256]int8{'(': 1, ')': -1, '[': 1, ']': -1}

// These are prefixes of most browsers. splitWords skips them without parsing, which halves the time
// for a browser.
const (
	mozillaPrefix      = "Mozilla/5.0 (" // This prefix stands at the start of ua. It begins a comment.
	chromeWebKitPrefix = "AppleWebKit/537.36 (KHTML, like Gecko) "
	safariWebKitPrefix = "AppleWebKit/605.1.15 (KHTML, like Gecko) "

	numWebKitWords = 3 // The words are AppleWebKit, KHTML and Gecko.
)

// splitWords splits a User-Agent into words, in one pass.
//
// A word is a run of letters, digits, "_", "-" and "!" that starts with a letter or digit. Words
// can contain dots. So Googlebot-Image is one word and never Googlebot. splitWords does not store
// numbers, versions and most words of browsers.
func (s *parsedUserAgent) splitWords(r *Registry, ua string) {
	if len(ua) > maxUserAgentBytes {
		ua = ua[:maxUserAgentBytes]
	}
	s.ua = ua
	var (
		i           int
		depth       int8
		comment     uint8 // This is the number of the comment at offset i, or 0.
		numComments uint8 // This is the number of comments up to offset i.
		prev        wordContext
	)
	if strings.HasPrefix(ua, mozillaPrefix) {
		i, depth, comment, numComments = len(mozillaPrefix), 1, 1, 1
		s.hasFirstKind, s.firstKind, s.numBrowserWords = true, words.Browser, 1
	}
	for i < len(ua) {
		c := words.Fold[ua[i]]
		if c < '0' { // No word starts here.
			if d := commentDepthChange[ua[i]]; d != 0 {
				if depth == 0 && d > 0 && numComments < 255 {
					numComments++
				}
				if depth += d; depth <= 0 {
					depth, comment, prev.afterAndroid = 0, 0, false
				} else {
					comment = numComments
				}
			}
			if ua[i] == '%' && i+2 < len(ua) && words.IsHex(ua[i+1]) && words.IsHex(ua[i+2]) {
				i += 2 // This skips an escaped byte, as in "Mozilla/5.0%20".
			}
			i++
			continue
		}
		if ua[i] == 'A' && depth == 0 && numComments < 255 {
			if n := webKitPrefixLength(ua[i:]); n > 0 {
				i, numComments, s.numBrowserWords, prev = i+n, numComments+1, s.numBrowserWords+numWebKitWords, wordContext{}
				continue
			}
		}
		start := i
		end, hash, letters := scanWord(ua, start)
		i = end
		if i+1 < len(ua) && ua[i] == '/' && words.IsDigit(ua[i+1]) {
			for i += 2; i < len(ua) && words.Fold[ua[i]] != words.Gap; i++ { // This skips the version.
			}
		}
		if r.isBrowserWord(hash) {
			s.numBrowserWords++
			if !s.hasFirstKind {
				s.hasFirstKind, s.firstKind = true, words.Browser
			}
			prev.flags = 0
			continue
		}
		w := word{hash: hash, start: uint16(start), end: uint16(end), key: -1, comment: comment}
		if start > 0 && ua[start-1] == '/' {
			w.flags = notAProduct
		}
		var contactEnd int
		if contactEnd, prev = s.addWord(r, w, letters, prev); contactEnd > 0 {
			i = contactEnd
		}
	}
}

// scanWord returns the end and the hash of the word that begins at start. letters is the bitwise OR
// of the bytes after [words.Fold], with the bit [words.Letter] if the word contains a letter.
func scanWord(ua string, start int) (end int, hash uint32, letters byte) {
	hash, c := words.Seed, words.Fold[ua[start]]
	letters = c
	for end = start; ; letters |= c {
		hash = words.AddToHash(hash, c)
		if end++; end == len(ua) {
			return end, hash, letters
		}
		if c = words.Fold[ua[end]]; c <= words.Dot {
			if c == words.Gap || end+1 == len(ua) || words.Fold[ua[end+1]] <= words.Dot {
				return end, hash, letters
			}
		}
	}
}

// addWord sets the kind of a word and the bit of the kind in kindBits. addWord stores the word if
// the word can be a name or a contact. letters is the result of scanWord. prev is the context of
// the word, and next is the context of the next word. contactEnd is the end of the URL or mail
// address that begins with the word, or 0.
func (s *parsedUserAgent) addWord(r *Registry, w word, letters byte, prev wordContext) (contactEnd int, next wordContext) {
	s.lookUp(r, &w)
	if w.kind != words.Browser {
		if n := contactLength(s.ua, int(w.start), int(w.end)); n > 0 {
			contactEnd = int(w.start) + n
			w.end, w.kind, w.key = uint16(contactEnd), words.Contact, -1
		} else if letters&words.Letter == 0 && w.key < 0 {
			return 0, prev // The word is a number.
		}
	}
	if !s.hasFirstKind && w.kind != words.Contact {
		s.hasFirstKind, s.firstKind = true, w.kind
	}
	s.kindBits |= kindBit(w.kind)
	switch w.kind {
	case words.Like:
		prev.flags |= afterLike
		return 0, prev
	case words.Compatible:
		prev.flags |= afterCompatible
		return 0, prev
	case words.Device:
		prev.afterAndroid = true
		return 0, prev
	case words.Browser:
		s.numBrowserWords++
		if w.key < 0 {
			prev.flags = 0
			return 0, prev
		}
	case words.Unknown:
		s.addUnknown(&w, prev)
	}
	w.flags |= prev.flags
	if prev.afterAndroid {
		w.flags |= inDevice
	}
	if s.numWords < maxWords {
		s.words[s.numWords] = w
		s.numWords++
	}
	return contactEnd, wordContext{afterAndroid: prev.afterAndroid}
}

// addUnknown sets the bits of kindBits and the flag spelledLikeRobot for a word that is neither a
// registry name nor in words.json.
func (s *parsedUserAgent) addUnknown(w *word, prev wordContext) {
	if w.flags&notAProduct != 0 {
		return
	}
	s.kindBits |= unknownWordBit
	if prev.flags&afterCompatible != 0 {
		s.kindBits |= unknownAfterCompatibleBit
	}
	// This excludes the variable "$BotName", which was not replaced.
	if looksLikeRobot(s.wordText(w)) && (w.start == 0 || s.ua[w.start-1] != '$') {
		s.kindBits |= unknownRobotLikeBit
		w.flags |= spelledLikeRobot
	}
}

// webKitPrefixLength returns the length of chromeWebKitPrefix or safariWebKitPrefix if s begins with one of them, or 0.
func webKitPrefixLength(s string) int {
	switch {
	case strings.HasPrefix(s, chromeWebKitPrefix):
		return len(chromeWebKitPrefix)
	case strings.HasPrefix(s, safariWebKitPrefix):
		return len(safariWebKitPrefix)
	}
	return 0
}

// isBrowserWord reports whether hash belongs to a word of browsers that begins no registry name.
// isBrowserWord checks only the first slot of the hash table, which contains most of these words.
// lookUp finds the rest.
func (r *Registry) isBrowserWord(hash uint32) bool {
	slot := r.table[words.FirstSlot(hash)]
	return words.HashTag(slot) == words.HashTag(hash) && words.KeyNumber(slot) <= r.numBrowserOnlyKeys && slot != 0
}

// lookUp sets the key and kind of a word from the registry. A word that the registry lacks stays
// unchanged.
func (s *parsedUserAgent) lookUp(r *Registry, w *word) {
	for i := words.FirstSlot(w.hash); ; i = (i + 1) & (words.Slots - 1) {
		slot := r.table[i]
		if slot == 0 {
			return
		}
		if words.HashTag(slot) != words.HashTag(w.hash) {
			continue
		}
		number := words.KeyNumber(slot) - 1
		if number < r.numBrowserOnlyKeys {
			w.kind = words.Browser
			return
		}
		k := &r.keys[number]
		text := s.ua[w.start:w.end]
		if len(k.Text) != len(text) || !hasFoldedPrefix(text, k.Text) {
			continue
		}
		w.key, w.kind = int16(number), k.Kind
		if len(k.Phrases) > 0 {
			s.kindBits |= kindBit(words.Name)
		}
		return
	}
}
