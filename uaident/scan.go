package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// Bounds on the parsed part of a User-Agent.
const (
	maxUserAgentBytes = 2048 // the rest is ignored
	maxWords          = 48   // number of words in parsedUserAgent.words, without stop words and numbers
)

// word is a word of a User-Agent, or a URL or mail address. The registry sets kind and key:
//
//	kind                    key     meaning
//	Unknown                 -1      in no name of the registry
//	Unknown                 >= 0    the first word of longer registry names
//	Stop                    >= 0    the same, and a stop word; other stop words are not stored
//	Name, Generic or Tool   >= 0    a registry name, or a word of words.json
//	Contact                 -1      a URL or mail address
//
// findRegisteredNames looks up words again without their version or domain, and joins the words of a
// registry name: the first word gets the kind Name and the end of the whole name, and the other
// words get the flag notAProduct.
type word struct {
	hash       uint32
	start, end uint16
	key        int16 // index in Registry.keys, or -1
	kind       words.Kind
	flags      wordFlags
	comment    uint8 // ordinal of the comment with the word; 0 outside comments
}

// wordFlags describe the position and spelling of a word.
type wordFlags uint8

const (
	afterLike        wordFlags = 1 << iota // "like Googlebot"
	afterCompatible                        // "compatible; Googlebot"
	inDevice                               // after "Android" in the same comment
	notAProduct                            // directly after a slash, or a later word of a longer name
	spelledLikeRobot                       // spelled like a robot's name
)

// wordContext is what precedes a word and changes its meaning, such as "like" or "compatible;".
type wordContext struct {
	flags       wordFlags
	afterDevice bool // "Android" precedes in the same comment
}

// parsedUserAgent is a User-Agent and the words that splitWords found in it.
type parsedUserAgent struct {
	ua               string
	words            [maxWords]word
	numWords         int        // number of valid elements of words
	firstKind        words.Kind // kind of the first word that is not a number
	hasWord          bool       // the User-Agent has a word
	numStopWords     int        // number of stop words in ua
	signBits         uint32     // bit set of word kinds and of the bits below
	registeredOffset uint16     // offset of the crawler that findRegisteredNames found
}

// A sign is a kind of word that occurs in the User-Agent. These are the additional bits of
// parsedUserAgent.signBits.
const (
	signRobotLike  = 1 << (16 + iota) // an unknown word spelled like a robot's name
	signCompatible                    // an unknown word after "compatible;"
	signUnknown                       // an unknown word
)

// kindSign returns the bit of parsedUserAgent.signBits that is set if the User-Agent contains a
// word of the kind.
func kindSign(k words.Kind) uint32 { return 1 << k }

// depthChange holds 1 for a byte that opens a comment, -1 for a byte that closes a comment, and 0
// for other bytes.
var depthChange = [256]int8{'(': 1, ')': -1, '[': 1, ']': -1}

// Prefixes of most browsers. splitWords skips them without parsing, which halves the time for a
// browser.
const (
	mozilla5 = "Mozilla/5.0 (" // at the start; a comment opens
	webKit1  = "AppleWebKit/537.36 (KHTML, like Gecko) "
	webKit2  = "AppleWebKit/605.1.15 (KHTML, like Gecko) "

	webKitStops = 3 // AppleWebKit, KHTML, Gecko
)

// splitWords splits a User-Agent into words, in one pass.
//
// A word is a run of letters, digits, "_", "-" and "!" that starts with a letter or digit. Words
// can contain dots. So Googlebot-Image is one word and never Googlebot. splitWords does not store
// numbers, versions and stop words.
func (s *parsedUserAgent) splitWords(r *Registry, ua string) {
	if len(ua) > maxUserAgentBytes {
		ua = ua[:maxUserAgentBytes]
	}
	s.ua = ua
	var (
		i        int
		depth    int8
		comment  uint8 // ordinal of the comment at i
		comments uint8 // so far
		prev     wordContext
	)
	if strings.HasPrefix(ua, mozilla5) {
		i, depth, comment, comments = len(mozilla5), 1, 1, 1
		s.hasWord, s.firstKind, s.numStopWords = true, words.Stop, 1
	}
	for i < len(ua) {
		c := words.Fold[ua[i]]
		if c < '0' { // a gap, or punctuation
			if d := depthChange[ua[i]]; d != 0 {
				if depth == 0 && d > 0 && comments < 255 {
					comments++
				}
				if depth += d; depth <= 0 {
					depth, comment, prev.afterDevice = 0, 0, false
				} else {
					comment = comments
				}
			}
			if ua[i] == '%' && i+2 < len(ua) && words.IsHex(ua[i+1]) && words.IsHex(ua[i+2]) {
				i += 2 // an escaped byte: "Mozilla/5.0%20"
			}
			i++
			continue
		}
		if ua[i] == 'A' && depth == 0 && comments < 255 {
			if n := webKitPrefixLength(ua[i:]); n > 0 {
				i, comments, s.numStopWords, prev = i+n, comments+1, s.numStopWords+webKitStops, wordContext{}
				continue
			}
		}
		start := i
		end, hash, letters := scanWord(ua, start)
		i = end
		if i+1 < len(ua) && ua[i] == '/' && words.IsDigit(ua[i+1]) {
			for i += 2; i < len(ua) && words.Fold[ua[i]] != words.Gap; i++ { // a version
			}
		}
		if r.isStopWord(hash) {
			s.numStopWords++
			if !s.hasWord {
				s.hasWord, s.firstKind = true, words.Stop
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

// scanWord returns the end and the hash of the word that begins at start, and the bitwise OR of its
// bytes after [words.Fold].
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

// addWord sets the kind of a word and adds the kind to signBits. addWord stores the word if a later
// step needs the word, as a name or a contact. letters is the union of the classes of the word's
// bytes (see [words.Fold]), and prev is the context of the word. next is the context of the next
// word. contactEnd is the end of the URL or mail address that begins with the word, or 0.
func (s *parsedUserAgent) addWord(r *Registry, w word, letters byte, prev wordContext) (contactEnd int, next wordContext) {
	s.lookUp(r, &w)
	if w.kind != words.Stop {
		if n := contactLength(s.ua, int(w.start), int(w.end)); n > 0 {
			contactEnd = int(w.start) + n
			w.end, w.kind, w.key = uint16(contactEnd), words.Contact, -1
		} else if letters&words.Letter == 0 && w.key < 0 {
			return 0, prev // a number
		}
	}
	if !s.hasWord && w.kind != words.Contact {
		s.hasWord, s.firstKind = true, w.kind
	}
	s.signBits |= kindSign(w.kind)
	switch w.kind {
	case words.Like:
		prev.flags |= afterLike
		return 0, prev
	case words.Compatible:
		prev.flags |= afterCompatible
		return 0, prev
	case words.Device:
		prev.afterDevice = true
		return 0, prev
	case words.Stop:
		s.numStopWords++
		if w.key < 0 {
			prev.flags = 0
			return 0, prev
		}
	case words.Unknown:
		s.addUnknown(&w, prev)
	}
	w.flags |= prev.flags
	if prev.afterDevice {
		w.flags |= inDevice
	}
	if s.numWords < maxWords {
		s.words[s.numWords] = w
		s.numWords++
	}
	return contactEnd, wordContext{afterDevice: prev.afterDevice}
}

// addUnknown adds the signs of a word that is neither a registry name nor in words.json, and sets
// spelledLikeRobot.
func (s *parsedUserAgent) addUnknown(w *word, prev wordContext) {
	if w.flags&notAProduct != 0 {
		return
	}
	s.signBits |= signUnknown
	if prev.flags&afterCompatible != 0 {
		s.signBits |= signCompatible
	}
	if looksLikeRobot(s.wordText(w)) && (w.start == 0 || s.ua[w.start-1] != '$') { // not "$BotName", an unexpanded variable
		s.signBits |= signRobotLike
		w.flags |= spelledLikeRobot
	}
}

// webKitPrefixLength returns the length of webKit1 or webKit2 if s begins with one of them, or 0.
func webKitPrefixLength(s string) int {
	switch {
	case strings.HasPrefix(s, webKit1):
		return len(webKit1)
	case strings.HasPrefix(s, webKit2):
		return len(webKit2)
	}
	return 0
}

// isStopWord reports whether the hash of a word is the hash of a stop word that begins no registry
// name. isStopWord checks only the first slot of the hash table, where most stop words are. lookUp
// finds the others.
func (r *Registry) isStopWord(hash uint32) bool {
	slot := r.table[words.FirstSlot(hash)]
	return words.HashTag(slot) == words.HashTag(hash) && words.KeyNumber(slot) <= r.numPlainStopKeys && slot != 0
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
		if number < r.numPlainStopKeys {
			w.kind = words.Stop
			return
		}
		k := &r.keys[number]
		text := s.ua[w.start:w.end]
		if len(k.Text) != len(text) || !hasFoldedPrefix(text, k.Text) {
			continue
		}
		w.key, w.kind = int16(number), k.Kind
		if len(k.Phrases) > 0 {
			s.signBits |= kindSign(words.Name)
		}
		return
	}
}
